/**
 * Node options for this server. The young generation of the heap gets a sixth of the default size: answers leave little
 * garbage, but compiling ten thousand zones would otherwise occupy a hundred megabytes for good.
 */
export const dnsNodeOptions: readonly string[] = ["--max-semi-space-size=2"];
