"""The driver `hostile`: actions that attack their sandbox."""
