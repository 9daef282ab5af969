import { useMutation, useQueryClient } from "@tanstack/react-query";
import { answerOf, api } from "../../api/client.ts";
import { type Person, peopleKey } from "../../api/people.ts";
import { sessionKey } from "../../api/session.ts";
import { ConfirmDialog } from "../../parts/ConfirmDialog.tsx";
import { texts } from "../../texts.ts";

const at = texts.people;

interface RemoveDialogProps {
  readonly company: string;
  readonly user: Person["user"];
  readonly close: () => void;
}

/** Removes a person once their name has been typed. */
export function RemoveDialog({ company, user, close }: RemoveDialogProps) {
  const client = useQueryClient();
  const remove = useMutation({
    mutationFn: () => {
      const params = { path: { id: company, user_id: user.id } };
      return answerOf(api.DELETE("/company/{id}/users/{user_id}", { params }));
    },
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: peopleKey });
      void client.invalidateQueries({ queryKey: sessionKey });
      close();
    },
  });
  return (
    <ConfirmDialog
      title={at.removeNamed(user.full_name)}
      warning={at.removeWarning(user.full_name)}
      name={user.full_name}
      verb={at.remove}
      mutation={remove}
      close={close}
      request={{ method: "DELETE", path: `/company/${company}/users/${user.id}` }}
    />
  );
}
