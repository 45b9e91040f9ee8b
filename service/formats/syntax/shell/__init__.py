"""Shell scripts read without a shell: a bounded evaluator over the syntax tree of tree-sitter-bash.

Nothing is executed, sourced, opened or fetched. What only execution could decide becomes a hole with a name.
"""

from service.formats.syntax.shell.evaluator import read_script
from service.formats.syntax.shell.script import Command, Script

__all__ = ["Command", "Script", "read_script"]
