INSERT INTO observation_groups VALUES ('megatron-core', 'transformer_engine', 'h100-sxm-80gb', 1);
INSERT INTO observations VALUES ('00000000000000000000000000000005', 'run-1', 'sha256:2', '2026-11-29 19:00:00+00:00', 'megatron-core', 'transformer_engine', 'h100-sxm-80gb', 8, 'megatron-core d98e8a64', NULL, NULL, '{}', 'sha256:1', 'fits', 84932978278, 'torch', 0, 1, 2, 3, FALSE, 9.5);
INSERT INTO observation_predictions VALUES ('00000000000000000000000000000005', '1', '2026-11-29 19:00:00+00:00', 0, 1, 2, 3, 9.5, NULL);
