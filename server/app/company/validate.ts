/** Describes the calling key. */
import type { Context } from "../context.ts";

export function validate({ caller }: Context) {
  return {
    name: caller.keyName,
    expires_at: caller.expiresAt ? String(caller.expiresAt.getTime()) : null,
    company: caller.companyId,
    status: "active",
  };
}
