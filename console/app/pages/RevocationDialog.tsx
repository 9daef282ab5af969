import { Radio, Stack } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { apiKeysQuery } from "../api/apiKeys.ts";
import { answerOf, api } from "../api/client.ts";
import { ConfirmDialog } from "../parts/ConfirmDialog.tsx";
import { texts } from "../texts.ts";
import type { ApiKeyDialogProps } from "./ApiKeyDialogs.tsx";

const at = texts.keyRevocation;

/** Revokes a key. One that has been rotated leaves its successor valid, unless the person chooses otherwise. */
export function RevocationDialog({ apiKey, isReplaced, company, close }: ApiKeyDialogProps) {
  const client = useQueryClient();
  const [keeps, keep] = useState(true);
  const revoke = useMutation({
    mutationFn: () => {
      const params = { path: { id: company, key_id: apiKey.id }, query: { keep_successor: keeps } };
      return answerOf(api.DELETE("/company/{id}/api-keys/{key_id}", { params }));
    },
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: apiKeysQuery(company).queryKey });
      close();
    },
  });
  return (
    <ConfirmDialog
      title={at.title(apiKey.name)}
      warning={at.warning}
      name={apiKey.name}
      verb={at.verb}
      mutation={revoke}
      close={close}
      request={{ method: "DELETE", path: `/company/${company}/api-keys/${apiKey.id}?keep_successor=${keeps}` }}
    >
      {isReplaced && (
        <Radio.Group label={at.which} value={keeps ? "one" : "both"} onChange={(value) => keep(value === "one")}>
          <Stack gap="xs" mt="xs">
            <Radio value="one" label={at.one} description={at.oneHint} />
            <Radio value="both" label={at.both} description={at.bothHint} />
          </Stack>
        </Radio.Group>
      )}
    </ConfirmDialog>
  );
}
