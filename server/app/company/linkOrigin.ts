import type { App } from "../context.ts";
import { addressOf } from "../sites/addresses.ts";

/**
 * The address of the console in mailed links. Not simply that of the request: somebody else may have sent it, with a forged one, to get
 * the link. Null: the console has no address that is known to be its own.
 */
export function linkOrigin(settings: App["settings"], origin: string): string | null {
  const { apiName, apiHost } = settings;
  if (apiName !== null) return addressOf(settings, { host: apiName, is_https: true });
  if (!URL.canParse(origin)) return null;
  const host = new URL(origin).hostname.replace(/^\[|\]$/g, "");
  return ["localhost", "127.0.0.1", "::1", apiHost].includes(host) ? origin : null;
}
