/** Deleting stored mail, after a question. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { answerOf, api, type Schemas } from "../../api/client.ts";
import { mayChange, useSignedIn } from "../../api/session.ts";
import { ActionButton } from "../../parts/ActionButton.tsx";
import { ConfirmDialog } from "../../parts/ConfirmDialog.tsx";
import { texts } from "../../texts.ts";

const at = texts.mailRemoval;

interface MailRemovalProps {
  readonly environmentId: string;
  readonly mail: Schemas["Mail"];
  readonly close: () => void;
}

/** Deletes one message. */
export function MailRemovalDialog({ environmentId, mail, close }: MailRemovalProps) {
  const client = useQueryClient();
  const subject = mail.subject === "" ? texts.mail.noSubject : mail.subject;
  const removal = useMutation({
    mutationFn: () => {
      const params = { path: { env_id: environmentId, mail_id: mail.id } };
      return answerOf(api.DELETE("/sites/environments/{env_id}/mails/{mail_id}", { params }));
    },
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: ["sites", "mails", environmentId] });
      close();
    },
  });
  return (
    <ConfirmDialog
      title={at.removeNamed(subject)}
      warning={mail.state === "queued" ? at.queuedWarning : at.warning}
      name={null}
      verb={at.remove}
      mutation={removal}
      close={close}
      request={{ method: "DELETE", path: `/sites/environments/${environmentId}/mails/${mail.id}` }}
    />
  );
}

interface AllMailProps {
  readonly environmentId: string;
  readonly environmentName: string;
}

export function DeleteAllMail({ environmentId, environmentName }: AllMailProps) {
  const [isAsking, ask] = useState(false);
  const forbidden = mayChange(useSignedIn()) ? null : texts.needsRole;
  return (
    <>
      <ActionButton variant="default" style={{ alignSelf: "start" }} reason={forbidden} onClick={() => ask(true)}>
        {at.all}
      </ActionButton>
      {isAsking && (
        <AllMailDialog environmentId={environmentId} environmentName={environmentName} close={() => ask(false)} />
      )}
    </>
  );
}

function AllMailDialog({ environmentId, environmentName, close }: AllMailProps & { readonly close: () => void }) {
  const client = useQueryClient();
  const removal = useMutation({
    mutationFn: () => {
      const params = { path: { env_id: environmentId } };
      return answerOf(api.DELETE("/sites/environments/{env_id}/mails", { params }));
    },
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: ["sites", "mails", environmentId] });
      close();
    },
  });
  return (
    <ConfirmDialog
      title={at.all}
      warning={at.allWarning}
      name={environmentName}
      verb={at.all}
      mutation={removal}
      close={close}
      request={{ method: "DELETE", path: `/sites/environments/${environmentId}/mails` }}
    />
  );
}
