"""The leaderboard: entries measured over the same deals, on tracks that never change."""
