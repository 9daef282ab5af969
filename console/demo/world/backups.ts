/** Backups of the demo's environments. */
import { send } from "./events.ts";
import type { DemoBackup, DemoEnvironment, World } from "./world.ts";

interface NewBackup {
  readonly type: DemoBackup["type"];
  readonly note?: string | null;
}

const names = {
  manual: "Manual backup",
  scheduled: "Scheduled backup",
  "system-generated": "System generated backup",
} as const;

/** Adds one as it is now. Newest first. */
export function newBackup(world: World, environment: DemoEnvironment, { type, note = null }: NewBackup): DemoBackup {
  world.lastNumber += 1;
  const id = world.lastNumber;
  const bytes = Math.round(environment.diskBytes * 0.6);
  const backup = { id, name: names[type], note, type, createdAt: world.clock.now(), provenAt: null, bytes };
  environment.backups.unshift(backup);
  send(world, "backup.created", { backup_id: id, environment_id: environment.id, name: backup.name, type });
  return backup;
}
