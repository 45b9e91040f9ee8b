"""What the readers of config files share: dotted settings, commands, companions, published models, questions."""
