import { useMutation, useQueryClient } from "@tanstack/react-query";
import { answerOf, api } from "../../api/client.ts";
import { type Person, peopleKey } from "../../api/people.ts";
import { ConfirmDialog } from "../../parts/ConfirmDialog.tsx";
import { texts } from "../../texts.ts";

const at = texts.people;

interface ResetDialogProps {
  readonly company: string;
  readonly user: Person["user"];
  readonly close: () => void;
}

/** Removes the second factor of somebody who has lost it, once their name has been typed. */
export function ResetDialog({ company, user, close }: ResetDialogProps) {
  const client = useQueryClient();
  const reset = useMutation({
    mutationFn: () => {
      const params = { path: { id: company, user_id: user.id } };
      return answerOf(api.DELETE("/company/{id}/users/{user_id}/second-factor", { params }));
    },
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: peopleKey });
      close();
    },
  });
  return (
    <ConfirmDialog
      title={at.resetNamed(user.full_name)}
      warning={at.resetWarning(user.full_name)}
      name={user.full_name}
      verb={at.resetVerb}
      mutation={reset}
      close={close}
      request={{ method: "DELETE", path: `/company/${company}/users/${user.id}/second-factor` }}
    />
  );
}
