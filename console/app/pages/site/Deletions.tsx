import { Checkbox, Group, PasswordInput } from "@mantine/core";
import { useState } from "react";
import { answerOf, api, type Schemas } from "../../api/client.ts";
import { may, mayChange, useSignedIn } from "../../api/session.ts";
import { ActionButton } from "../../parts/ActionButton.tsx";
import { Card } from "../../parts/Card.tsx";
import { ConfirmDialog } from "../../parts/ConfirmDialog.tsx";
import { useStartAndFollow } from "../../parts/useStartAndFollow.ts";
import { texts } from "../../texts.ts";
import type { TabProps } from "./tabProps.ts";

const at = texts.environments;

/** Deletes the environment or the site, or resets the site to a new WordPress. */
export function Deletions({ siteId, siteName, environment, environments }: TabProps) {
  const [chosen, choose] = useState<"environment" | "site" | "reset" | null>(null);
  const session = useSignedIn();
  const forbidden = mayChange(session) ? null : texts.needsRole;
  const isNeeded = environment.name === "live" && environments.length > 1;
  const close = () => choose(null);
  return (
    <Card title={at.danger}>
      <Group>
        <ActionButton
          variant="default"
          reason={forbidden ?? (isNeeded ? at.otherFirst : null)}
          onClick={() => choose("environment")}
        >
          {at.deleteEnvironment(environment.display_name)}
        </ActionButton>
        <ActionButton
          variant="default"
          reason={may(session, "delete_sites") ? null : texts.needs.deleteSites}
          onClick={() => choose("site")}
        >
          {at.deleteSite}
        </ActionButton>
        <ActionButton variant="default" reason={forbidden} onClick={() => choose("reset")}>
          {texts.reset.verb}
        </ActionButton>
      </Group>
      {chosen === "environment" && (
        <DeletionDialog
          title={at.deleteEnvironment(environment.display_name)}
          name={environment.display_name}
          path={`/sites/environments/${environment.id}`}
          close={close}
          call={(body) => {
            const params = { path: { env_id: environment.id } };
            return answerOf(api.DELETE("/sites/environments/{env_id}", { params, body }));
          }}
        />
      )}
      {chosen === "site" && (
        <DeletionDialog
          title={at.deleteSite}
          name={siteName}
          path={`/sites/${siteId}`}
          close={close}
          call={(body) => answerOf(api.DELETE("/sites/{site_id}", { params: { path: { site_id: siteId } }, body }))}
        />
      )}
      {chosen === "reset" && <ResetDialog siteId={siteId} siteName={siteName} close={close} />}
    </Card>
  );
}

interface DeletionDialogProps {
  readonly title: string;
  readonly name: string;
  /** Below `/v2`. */
  readonly path: string;
  readonly close: () => void;
  readonly call: (body: Schemas["Deletion"]) => Promise<Schemas["Accepted"]>;
}

function DeletionDialog({ title, name, path, close, call }: DeletionDialogProps) {
  const [isForGood, setForGood] = useState(false);
  const body = isForGood ? { without_backup: true } : {};
  const deletion = useStartAndFollow(() => call(body));
  return (
    <ConfirmDialog
      title={title}
      warning={isForGood ? texts.deletion.forGoodHint : at.deleteWarning}
      name={name}
      verb={isForGood ? texts.deletion.forGood : at.deleteNow}
      mutation={deletion}
      close={close}
      request={{ method: "DELETE", path, body }}
    >
      <Checkbox
        label={texts.deletion.forGood}
        description={texts.deletion.forGoodHint}
        checked={isForGood}
        onChange={(event) => setForGood(event.currentTarget.checked)}
      />
    </ConfirmDialog>
  );
}

interface ResetDialogProps {
  readonly siteId: string;
  readonly siteName: string;
  readonly close: () => void;
}

function ResetDialog({ siteId, siteName, close }: ResetDialogProps) {
  const [password, setPassword] = useState("");
  const body = { admin_password: password };
  const reset = useStartAndFollow(() => {
    const params = { path: { site_id: siteId } };
    return answerOf(api.POST("/sites/{site_id}/reset-site", { params, body }));
  });
  return (
    <ConfirmDialog
      title={texts.reset.verb}
      warning={texts.reset.warning}
      name={siteName}
      verb={texts.reset.verb}
      mutation={reset}
      close={close}
      request={{ method: "POST", path: `/sites/${siteId}/reset-site`, body }}
    >
      <PasswordInput
        label={texts.reset.password}
        description={texts.reset.passwordHint}
        autoComplete="new-password"
        value={password}
        onChange={(event) => setPassword(event.currentTarget.value)}
      />
    </ConfirmDialog>
  );
}
