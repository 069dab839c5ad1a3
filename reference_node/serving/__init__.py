"""How the node is reached: sockets, limits of time and memory, host names, proxies, web pages of other origins."""
