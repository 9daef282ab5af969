/**
 * Masks secrets in URLs for logs. Queries help to find errors, but login links, password links and API calls carry
 * secrets in them.
 */

/** Matches a parameter's name in lower case, without a part in brackets. */
const secretName =
  /(?:key|token|pass|password|passwd|pwd|pass\d|secret|signature|auth|nonce|sitewright-login)[\W_\d]*$/;
const mask = "***";
const userInfo = /^([a-z][a-z\d+.-]*:)?\/\/[^/?#]*@/i;

/** Path and query without the values of secret parameters. */
export function withoutSecrets(url: string): string {
  const mark = url.indexOf("?");
  if (mark === -1) return url;
  const parts = url.slice(mark + 1).split(/([&;])/);
  return url.slice(0, mark + 1) + parts.map(maskValue).join("");
}

/** The Referer header without secret parameters and without credentials before an `@`. */
export function referrerWithoutSecrets(address: string): string {
  return withoutSecrets(address.replace(userInfo, "$1//"));
}

function maskValue(parameter: string): string {
  const equals = parameter.indexOf("=");
  if (equals === -1) return parameter;
  return secretName.test(phpName(parameter.slice(0, equals))) ? `${parameter.slice(0, equals)}=${mask}` : parameter;
}

/** The name as PHP reads it. */
function phpName(written: string): string {
  const name = decoded(written).toLowerCase();
  const bracket = name.indexOf("[", 1);
  return bracket === -1 ? name : name.slice(0, bracket);
}

function decoded(text: string): string {
  return text.includes("%")
    ? text.replace(/%([\da-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
    : text;
}
