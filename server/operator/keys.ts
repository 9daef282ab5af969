/** `keys`, `keys create` and `keys revoke`: the API keys of all companies. */
import { makeToken, readToken } from "../app/company/token.ts";
import { endActivity, recordActivity, recordOperatorAction, systemActor } from "../store/company/activity.ts";
import { insertApiKey, type ListedKey, listAllKeys, lockApiKey, revokeApiKey } from "../store/company/apiKeys.ts";
import { listCompanies } from "../store/company/companies.ts";
import { lockCompany } from "../store/company/companyLimits.ts";
import type { DatabaseTransaction } from "../store/database.ts";
import { operatorActor } from "./actor.ts";
import type { Run } from "./command.ts";
import { withRunningDatabase } from "./database.ts";
import { exitFailed, Failure } from "./failure.ts";
import { ago, tableOf } from "./formatting.ts";

export const list: Run = ({ flags }, { config }) =>
  withRunningDatabase(config, async (database) => {
    const keys = (await listAllKeys(database)).map((key) => ({ ...key, status: statusOf(key) }));
    if (flags.json === true) return JSON.stringify(keys);
    const rows = keys.map(({ id, name, status, company_name, user_email, scopes, last_used_at, allowed_addresses }) => [
      ...[id, name, status, company_name, user_email, scopes?.join(",") ?? "all"],
      ...[last_used_at === null ? "never" : ago(last_used_at), allowed_addresses?.join(",") ?? "any"],
    ]);
    return tableOf([["KEY ID", "NAME", "STATUS", "COMPANY", "USER", "SCOPES", "LAST USED", "ADDRESSES"], ...rows]);
  });

function statusOf({ revoked_at, expires_at }: ListedKey): "active" | "revoked" | "expired" {
  if (revoked_at !== null) return "revoked";
  return expires_at !== null && expires_at <= new Date() ? "expired" : "active";
}

export const create: Run = ({ words: [companyId = "", name = "Created by the operator"], flags }, { config }) =>
  withRunningDatabase(config, async (database) => {
    const company = (await listCompanies(database)).find(({ id }) => id === companyId.toLowerCase());
    if (company?.owner_id == null) {
      throw new Failure(`There is no company ${companyId}. List them with: company list`, exitFailed);
    }
    const token = makeToken();
    const owner = { companyId: company.id, userId: company.owner_id };
    await database.transaction().execute(async (transaction) => {
      await insertApiKey(transaction, { ...readToken(token), ...owner, name, scopes: null, expiresAt: null });
      await recordDone(transaction, company.id, "createApiKey", name);
    });
    if (flags.json === true) return JSON.stringify({ company_id: company.id, api_key: token });
    return `Created the key "${name}" of ${company.name}. It is shown only once.\n  ${token}`;
  });

export const revoke: Run = ({ words: [keyId = ""] }, { config }) =>
  withRunningDatabase(config, async (database) => {
    const key = (await listAllKeys(database)).find(({ id }) => id === keyId);
    if (key === undefined) throw new Failure(`There is no key ${keyId}. List them with: keys`, exitFailed);
    await database.transaction().execute(async (transaction) => {
      await lockCompany(transaction, key.company_id);
      const locked = await lockApiKey(transaction, key.company_id, key.id);
      if (locked === null || locked.revoked_at !== null) return;
      await revokeApiKey(transaction, key.id, new Date());
      await recordDone(transaction, key.company_id, "revokeApiKey", key.name);
    });
    return `The key "${key.name}" of ${key.company_name} is revoked.`;
  });

/** In the log of the company, which does not name the operator's account, and in the operator's. */
async function recordDone(
  transaction: DatabaseTransaction,
  companyId: string,
  type: string,
  keyName: string,
): Promise<void> {
  const entry = {
    companyId,
    siteId: null,
    category: "userManagement",
    type,
    parameters: { keyName },
    actor: systemActor,
  };
  await endActivity(transaction, await recordActivity(transaction, entry), { hasFailed: false });
  const parameters = { companyId, keyName };
  await recordOperatorAction(transaction, { type, parameters, actor: operatorActor() });
}
