/** Which passwords the demo takes. */
import { Refusal } from "../world/failures.ts";

/** Refuses passwords that are easy to guess. */
export function requireGoodPassword(password: string): void {
  if (!/^(.)\1*$|password|123456|qwerty/i.test(password)) return;
  throw new Refusal("password_too_weak", "This password is easy to guess. Choose another one.");
}
