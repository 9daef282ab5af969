/** Whether a name that is not served yet already leads to this installation. */
import { type LookUp, NoDnsAnswer } from "./lookUp.ts";
import { hasAddressHere, type Installation } from "./records.ts";

interface Name {
  readonly name: string;
  /** The registrable domain. */
  readonly registrable: string;
}

/**
 * Whether any address, the CNAME or any name server of the name is this installation's. True also if DNS does not answer,
 * since nothing is known then.
 */
export async function leadsHere(
  lookUp: LookUp,
  { name, registrable }: Name,
  installation: Installation & { readonly dnsNames: readonly string[] },
): Promise<boolean> {
  const { siteSuffix, dnsNames } = installation;
  try {
    const [ipv4, ipv6, aliases, servers] = await Promise.all([
      lookUp("A", `${name}.`),
      lookUp("AAAA", `${name}.`),
      lookUp("CNAME", `${name}.`),
      lookUp("NS", `${registrable}.`),
    ]);
    const isBelowSuffix = aliases.some((alias) => `.${alias}`.endsWith(`.${siteSuffix}.`));
    const isServedHere = servers.some((server) => dnsNames.includes(server.replace(/\.$/, "").toLowerCase()));
    return isBelowSuffix || isServedHere || hasAddressHere([...ipv4, ...ipv6], installation);
  } catch (error) {
    if (error instanceof NoDnsAnswer) return true;
    throw error;
  }
}
