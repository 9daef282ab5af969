/** Where passkeys work: browsers offer them only to pages with HTTPS or of `localhost`, and bind them to a host name. */
import { isIP } from "node:net";
import { Refused } from "../failures.ts";

/** Why pages of this origin can't use passkeys, in a sentence that says what to do. Null: they can. */
export function obstacleOf(origin: string): string | null {
  if (!URL.canParse(origin))
    return "Passkeys need an address that the server can read. Check the proxy in front of it.";
  const { protocol, hostname, port } = new URL(origin);
  const host = hostname.replace(/^\[|\]$/g, "");
  if (isLoopback(host)) {
    const local = `${protocol}//localhost${port === "" ? "" : `:${port}`}`;
    return `Passkeys are bound to a name and not to ${host}. Open the console at ${local}.`;
  }
  if (isIP(host) !== 0) return `Passkeys are bound to a name and not to ${host}. Open the console by its name.`;
  if (protocol === "https:" || host === "localhost") return null;
  return "Passkeys need HTTPS. The operator can give the console a name with HTTPS (SITEWRIGHT_API_NAME).";
}

const isLoopback = (host: string): boolean => host === "::1" || (isIP(host) === 4 && host.startsWith("127."));

/** The name that passkeys of pages of this origin are bound to. Throws `Refused` if they can't use any. */
export function passkeyHost(origin: string): string {
  const obstacle = obstacleOf(origin);
  if (obstacle !== null) throw new Refused("passkeys_unavailable", obstacle);
  return new URL(origin).hostname;
}
