INSERT INTO policies VALUES ('prod', '{"mode": "shadow"}', '2026-11-29 19:00:00+00:00');
INSERT INTO refusals VALUES ('00000000000000000000000000000008', 'prod', 'sha256:3', 'shadow', 'does_not_fit', 'stage 0 needs 95.1 GiB', 'slurm-4711', 'h100-sxm-80gb', 64, 'does_not_fit', 102120030208, 84932978278, 'sha256:1', 3, '2026-11-29 19:00:00+00:00', '2026-11-29 20:00:00+00:00');
INSERT INTO ruling_counts VALUES ('prod', '2026-11-29', 'shadow', 'refuse', 'does_not_fit', 3);
