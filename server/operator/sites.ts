/** `sites`: lists all environments of all companies. */
import { readInstallation } from "@sitewright/supervisor/records.ts";
import { addressOf } from "../app/sites/addresses.ts";
import { listAllEnvironments } from "../store/sites/environments.ts";
import type { Run } from "./command.ts";
import { withRunningDatabase } from "./database.ts";
import { ago, sizeOf, tableOf } from "./formatting.ts";

export const sites: Run = ({ flags }, { config }) =>
  withRunningDatabase(config, async (database) => {
    const ports = { ...config, ...readInstallation(config.data) };
    const found = (await listAllEnvironments(database)).map(({ host, is_https, ...one }) => ({
      ...one,
      address: addressOf(ports, { host, is_https }),
    }));
    if (flags.json === true) return JSON.stringify(found);
    if (found.length === 0) return "There are no sites yet. docs/tour.md shows how to create one.";
    const rows = found.map((one) => [
      ...[one.company_name, `${one.site_name} / ${one.environment_name}`, one.address, one.state],
      ...[one.wordpress_version ?? "none", one.php_version],
      ...[one.disk_bytes === null ? "not measured" : sizeOf(one.disk_bytes)],
      ...[one.backed_up_at === null ? "never" : ago(one.backed_up_at)],
    ]);
    const head = ["COMPANY", "ENVIRONMENT", "ADDRESS", "STATE", "WORDPRESS", "PHP", "DISK", "NEWEST BACKUP"];
    return tableOf([head, ...rows]);
  });
