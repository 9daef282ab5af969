/** What can go wrong at a provider. The messages are for the person who signs in, the causes for the log. */
import { fieldOf } from "@sitewright/runtimes/fields.ts";

/** The provider can't be used now: it does not answer, or the installation is not set up at it as it must be. */
export class ProviderUnavailable extends Error {
  override readonly name = "ProviderUnavailable";
}

/** The provider's answer does not sign anybody in: it is wrong, too old, was used before, or a refusal. The message says what to do. */
export class AnswerRefused extends Error {
  override readonly name = "AnswerRefused";
}

/** Codes of the library for answers that no OpenID Connect provider with the right settings gives. */
const misconfigured = new Set([
  "OAUTH_RESPONSE_IS_NOT_CONFORM",
  "OAUTH_RESPONSE_IS_NOT_JSON",
  "OAUTH_PARSE_ERROR",
  "OAUTH_MISSING_SERVER_METADATA",
  "OAUTH_INVALID_SERVER_METADATA",
  "OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED",
  "OAUTH_HTTP_REQUEST_FORBIDDEN",
  "OAUTH_REQUEST_PROTOCOL_FORBIDDEN",
]);

/** Errors with which providers refuse a client, and not what a person did (RFC 6749, section 5.2). */
const clientErrors = new Set(["invalid_client", "unauthorized_client", "unsupported_grant_type", "invalid_scope"]);

/** Errors with which providers answer instead of a sign-in because they can't (RFC 6749, section 4.1.2.1). */
const faults = new Set(["server_error", "temporarily_unavailable"]);

/** Whether the person, or the provider in their place, has said no. `error`: of the library. */
export const isDenial = (error: unknown): boolean => textAt(error, "error") === "access_denied";

/** Why the provider can't be used, in a part of a sentence. Null: the error is about one sign-in. `error`: of the library. */
export function obstacleIn(error: unknown): string | null {
  const code = textAt(error, "code");
  const isRefusedClient = code === "OAUTH_WWW_AUTHENTICATE_CHALLENGE" || clientErrors.has(textAt(error, "error"));
  if (isRefusedClient) return "refuses this installation's client id, secret or address";
  if (faults.has(textAt(error, "error"))) return "reports a fault of its own";
  if (error instanceof TypeError || code === "OAUTH_TIMEOUT" || code === "OAUTH_ABORT") return "does not answer";
  return misconfigured.has(code) ? "does not answer as an OpenID Connect provider does" : null;
}

/** The error of the library in words without the tokens that its cause may contain. */
export function wordsOf(error: unknown): string {
  const parts = [error, fieldOf(error, "cause")].flatMap((each) => (each instanceof Error ? [each.message] : []));
  const details = ["error", "error_description"].map((name) => textAt(error, name)).filter(Boolean);
  return [...new Set([...parts, ...details])].join(": ");
}

function textAt(value: unknown, name: string): string {
  const field = fieldOf(value, name);
  return typeof field === "string" ? field : "";
}
