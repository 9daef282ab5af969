/** Collects the logins at sites from the edge, for the activity log. If the edge is killed, those since the last run are lost. */
import type { EdgeClient, TakenLogin } from "../clients/edgeClient.ts";
import type { Database } from "../store/database.ts";
import { listNamed, type NamedEnvironment } from "../store/sites/environments.ts";

interface CollectLoginsOptions {
  readonly database: Database;
  readonly edge: Pick<EdgeClient, "takeLogins">;
  /** Receives each login at an environment that still exists. */
  readonly note: (environment: NamedEnvironment, login: TakenLogin) => void;
}

export async function collectLogins({ database, edge, note }: CollectLoginsOptions): Promise<void> {
  const logins = await edge.takeLogins();
  if (logins.length === 0) return;
  const environments = await listNamed(database, [...new Set(logins.map(({ environmentId }) => environmentId))]);
  const byId = new Map(environments.map((environment) => [environment.id, environment]));
  for (const login of logins) {
    const environment = byId.get(login.environmentId);
    if (environment !== undefined) note(environment, login);
  }
}
