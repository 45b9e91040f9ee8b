"""What several dialects share: value coercion, small expressions, argument lists, launchers, shell text."""
