import { Checkbox, Group, Select, Stack, Text, Textarea } from "@mantine/core";
import { useState } from "react";
import { answerOf, api, type Schemas } from "../../api/client.ts";
import { linesOf } from "../../api/lines.ts";
import { useStart } from "../../api/operations.ts";
import type { Backup, Environment } from "../../api/sites.ts";
import { dateText } from "../../formats.ts";
import { ActionButton } from "../../parts/ActionButton.tsx";
import { ConfirmDialog } from "../../parts/ConfirmDialog.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { OperationOutcome } from "../../parts/OperationOutcome.tsx";
import { useStartAndFollow } from "../../parts/useStartAndFollow.ts";
import { texts } from "../../texts.ts";
import { Changes } from "./Changes.tsx";

const at = texts.restores;
const parts = ["all", "files", "database", "someFiles", "someTables"] as const;
type Part = (typeof parts)[number];

interface RestoreDialogProps {
  readonly backup: Backup;
  /** Of which the backup was made. */
  readonly environment: Environment;
  /** To which it can be restored. */
  readonly environments: readonly Environment[];
  readonly siteName: string;
  readonly close: () => void;
}

/** What to restore, and what would be lost. Continues on the page of the operation. */
export function RestoreDialog({ backup, environment, environments, siteName, close }: RestoreDialogProps) {
  const [targetId, setTargetId] = useState(environment.id);
  const [part, setPart] = useState<Part>("all");
  const [names, setNames] = useState("");
  const [isForced, force] = useState(false);
  const target = environments.find(({ id }) => id === targetId) ?? environment;
  const body = { backup_id: backup.id, ...choiceOf(part, names), ...(isForced && { without_backup: true }) };
  const call = (more: { dry_run?: boolean }) => {
    const params = { path: { target_env_id: target.id } };
    return answerOf(
      api.POST("/sites/environments/{target_env_id}/backups/restore", { params, body: { ...body, ...more } }),
    );
  };
  const restore = useStartAndFollow(() => call({}));
  const date = dateText(backup.created_at);
  return (
    <ConfirmDialog
      title={texts.backups.restoreTitle(date)}
      warning={at.warning(target.display_name, date)}
      name={siteName}
      verb={texts.backups.restore}
      mutation={restore}
      close={close}
      request={{ method: "POST", path: `/sites/environments/${target.id}/backups/restore`, body }}
    >
      {environments.length > 1 && (
        <Select
          label={at.target}
          allowDeselect={false}
          data={environments.map(({ id, display_name }) => ({ value: id, label: display_name }))}
          value={target.id}
          onChange={(value) => value !== null && setTargetId(value)}
        />
      )}
      <Select
        label={at.part}
        allowDeselect={false}
        data={parts.map((value) => ({ value, label: at.parts[value] }))}
        value={part}
        onChange={(value) => setPart(parts.find((known) => known === value) ?? "all")}
      />
      {(part === "someFiles" || part === "someTables") && (
        <Textarea
          label={part === "someFiles" ? at.fileList : at.tables}
          description={part === "someFiles" ? at.fileListHint : at.tablesHint}
          autosize
          minRows={2}
          maxRows={10}
          value={names}
          onChange={(event) => setNames(event.currentTarget.value)}
        />
      )}
      <Checkbox
        label={at.force}
        description={at.forceHint}
        checked={isForced}
        onChange={(event) => force(event.currentTarget.checked)}
      />
      <Preview key={`${target.id} ${part} ${names}`} compare={() => call({ dry_run: true })} />
    </ConfirmDialog>
  );
}

/** The part as the API takes it. */
function choiceOf(part: Part, names: string): Pick<Schemas["BackupRestore"], "only" | "file_list" | "tables"> {
  if (part === "files" || part === "database") return { only: part };
  if (part === "someFiles") return { file_list: linesOf(names) };
  return part === "someTables" ? { tables: linesOf(names) } : {};
}

/** Not required before a restore: a damaged site may be impossible to compare. */
function Preview({ compare }: { readonly compare: () => Promise<Schemas["Accepted"]> }) {
  const start = useStart(compare);
  return (
    <Stack gap="xs">
      <Text size="sm">{at.compareHint}</Text>
      <Failure error={start.error} />
      <Group>
        <ActionButton variant="default" loading={start.isPending} onClick={() => start.mutate(undefined)}>
          {at.compare}
        </ActionButton>
      </Group>
      {start.data !== undefined && (
        <OperationOutcome key={start.data.operation_id} operationId={start.data.operation_id}>
          {({ compared }) => compared !== null && <Changes changes={compared} words={at} />}
        </OperationOutcome>
      )}
    </Stack>
  );
}
