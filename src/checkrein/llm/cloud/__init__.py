"""Models that a company reaches through its cloud: Bedrock, Vertex, Foundry."""
