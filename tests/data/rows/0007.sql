INSERT INTO devices VALUES ('h100-sxm-80gb', '{"reserve_bytes": 1073741824}', '2026-11-29 19:00:00+00:00');
