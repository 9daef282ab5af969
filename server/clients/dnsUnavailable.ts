/** The DNS server could not be asked, or did not understand: it may be starting. */
export class DnsUnavailable extends Error {
  override readonly name = "DnsUnavailable";
}
