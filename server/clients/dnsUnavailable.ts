/** The DNS server could not be reached or rejected the request: it may be starting. */
export class DnsUnavailable extends Error {
  override readonly name = "DnsUnavailable";
}
