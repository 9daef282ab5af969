/** The address at which visitors reach a domain. The API names the ports only in results of operations, so they are kept from there. */
export function addressOf(domain: string): string {
  return `${window.location.protocol}//${domain}`;
}
