/**
 * Addresses as a log may have them. Queries are of use to whoever looks for what went wrong, but links for logging in,
 * setting a password and using an interface carry secrets there: their values are left out.
 */

/** Of a parameter, in lower case and without what stands in brackets behind it. */
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

/** The page that a visitor came from, without secrets and without what precedes an `@` in it. */
export function referrerWithoutSecrets(address: string): string {
  return withoutSecrets(address.replace(userInfo, "$1//"));
}

function maskValue(parameter: string): string {
  const equals = parameter.indexOf("=");
  if (equals === -1) return parameter;
  return secretName.test(nameOf(parameter.slice(0, equals))) ? `${parameter.slice(0, equals)}=${mask}` : parameter;
}

/** As PHP would call it. */
function nameOf(written: string): string {
  const name = decoded(written).toLowerCase();
  const bracket = name.indexOf("[", 1);
  return bracket === -1 ? name : name.slice(0, bracket);
}

function decoded(text: string): string {
  return text.includes("%")
    ? text.replace(/%([\da-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
    : text;
}
