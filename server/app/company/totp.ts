/** Codes of authenticator apps: six digits, a new one every 30 seconds (RFC 6238). */
import { Secret, TOTP } from "otpauth";

const secretBytes = 20;
/** Steps of 30 seconds by which the clocks of the app and of this machine may differ. */
const window = 1;

/** Returns a random secret in base 32. */
export const newSecret = (): string => new Secret({ size: secretBytes }).base32;

/** The address with which an app adds the account. */
export function setupUri(secret: string, email: string): string {
  return new TOTP({ issuer: "Sitewright", label: email, secret }).toString();
}

/** The time step whose code this is, or null if it is the code of no step at `now` (milliseconds). */
export function stepOf(secret: string, code: string, now: number): number | null {
  if (!/^\d{6}$/.test(code)) return null;
  const delta = new TOTP({ secret }).validate({ token: code, timestamp: now, window });
  return delta === null ? null : TOTP.counter({ timestamp: now }) + delta;
}
