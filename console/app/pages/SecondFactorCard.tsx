/** On the account page: whether there is a second factor, and what can be done about it. */
import { Button, Group, Modal, PasswordInput, Stack, Text } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { answerOf, api, type Schemas } from "../api/client.ts";
import { secondFactorQuery } from "../api/secondFactor.ts";
import { sessionKey } from "../api/session.ts";
import { dateText } from "../formats.ts";
import { ActionButton } from "../parts/ActionButton.tsx";
import { AddSecondFactor } from "../parts/AddSecondFactor.tsx";
import { Failure, Loaded } from "../parts/Failure.tsx";
import { RecoveryCodes } from "../parts/RecoveryCodes.tsx";
import { useApiForm } from "../parts/useApiForm.ts";
import { texts } from "../texts.ts";

const at = texts.secondFactor;

export function SecondFactorCard({ email }: { readonly email: string }) {
  const client = useQueryClient();
  const found = useQuery(secondFactorQuery);
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  const changed = () => {
    for (const key of [secondFactorQuery.queryKey, sessionKey, ["sessions"], ["people"]]) {
      void client.invalidateQueries({ queryKey: key });
    }
  };
  const show = (made: readonly string[]) => {
    setCodes(made);
    changed();
  };
  if (codes !== null) return <RecoveryCodes codes={codes} done={() => setCodes(null)} />;
  return (
    <Loaded query={found}>
      {(factor) =>
        factor.since === null ? (
          <None email={email} done={show} />
        ) : (
          <Present factor={factor} since={factor.since} show={show} changed={changed} />
        )
      }
    </Loaded>
  );
}

function None({ email, done }: { readonly email: string; readonly done: (codes: readonly string[]) => void }) {
  const [isAdding, setAdding] = useState(false);
  return (
    <>
      <Text>{at.none}</Text>
      {isAdding ? (
        <AddSecondFactor email={email} done={done} />
      ) : (
        <Button style={{ alignSelf: "start" }} onClick={() => setAdding(true)}>
          {at.add}
        </Button>
      )}
    </>
  );
}

interface PresentProps {
  readonly factor: Schemas["SecondFactor"];
  readonly since: string;
  readonly show: (codes: readonly string[]) => void;
  readonly changed: () => void;
}

function Present({ factor, since, show, changed }: PresentProps) {
  const [opened, open] = useState<"codes" | "remove" | null>(null);
  const close = () => open(null);
  return (
    <>
      <Text>{`${at.since(dateText(since))} ${at.codesLeft(factor.recovery_codes_left)}`}</Text>
      <Group>
        <Button variant="default" onClick={() => open("codes")}>
          {at.newCodes}
        </Button>
        <Button variant="default" onClick={() => open("remove")}>
          {at.remove}
        </Button>
      </Group>
      {opened === "codes" && (
        <PasswordDialog
          title={at.newCodes}
          hint={at.newCodesHint}
          close={close}
          send={(body) => answerOf(api.POST("/session/second-factor/recovery-codes", { body }))}
          done={({ recovery_codes: codes }) => show(codes)}
        />
      )}
      {opened === "remove" && (
        <PasswordDialog
          title={at.remove}
          hint={factor.is_required ? at.removeRequiredHint : at.removeHint}
          close={close}
          send={(body) => answerOf(api.DELETE("/session/second-factor", { body }))}
          done={() => {
            changed();
            close();
          }}
        />
      )}
    </>
  );
}

interface PasswordDialogProps<Result> {
  readonly title: string;
  readonly hint: string;
  readonly close: () => void;
  readonly send: (body: Schemas["PasswordCheck"]) => Promise<Result>;
  readonly done: (result: Result) => void;
}

/** Asks for the password before a change. */
function PasswordDialog<Result>({ title, hint, close, send, done }: PasswordDialogProps<Result>) {
  const { form, isSending, error, submit } = useApiForm({
    initialValues: { current_password: "" },
    send,
    done,
    fields: { wrong_credentials: "current_password" },
  });
  return (
    <Modal opened onClose={close} title={title} closeButtonProps={{ "aria-label": texts.close }}>
      <form onSubmit={submit} noValidate>
        <Stack>
          <Text size="sm">{hint}</Text>
          <Failure error={error} />
          <PasswordInput
            label={texts.password.current}
            autoComplete="current-password"
            data-autofocus
            {...form.getInputProps("current_password")}
          />
          <ActionButton type="submit" loading={isSending} style={{ alignSelf: "start" }}>
            {title}
          </ActionButton>
        </Stack>
      </form>
    </Modal>
  );
}
