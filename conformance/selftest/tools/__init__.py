"""What the self-test is made of: nodes taken apart, served and tried."""
