"""The pytest plugin: collects packs and turns verdicts into pytest outcomes, when it is asked to and only then."""
