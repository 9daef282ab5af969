import { Button, Text } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { answerOf, api, type Schemas } from "../api/client.ts";
import { secondFactorQuery } from "../api/secondFactor.ts";
import { sessionKey } from "../api/session.ts";
import { dateText } from "../formats.ts";
import { FactorChoice } from "../parts/FactorChoice.tsx";
import { FactorList } from "../parts/FactorList.tsx";
import { Loaded } from "../parts/Failure.tsx";
import { PasswordDialog } from "../parts/PasswordDialog.tsx";
import { RecoveryCodes } from "../parts/RecoveryCodes.tsx";
import { texts } from "../texts.ts";

const at = texts.secondFactor;

export function SecondFactorCard({ email }: { readonly email: string }) {
  const client = useQueryClient();
  const found = useQuery(secondFactorQuery);
  const [codes, setCodes] = useState<readonly string[]>([]);
  const changed = () => {
    for (const key of [secondFactorQuery.queryKey, sessionKey, ["sessions"], ["people"]]) {
      void client.invalidateQueries({ queryKey: key });
    }
  };
  const show = (made: readonly string[]) => {
    setCodes(made);
    changed();
  };
  if (codes.length > 0) return <RecoveryCodes codes={codes} done={() => setCodes([])} />;
  return (
    <Loaded query={found}>
      {(factor) => (
        <>
          {factor.since === null ? <Text>{at.none}</Text> : <Text>{at.since(dateText(factor.since))}</Text>}
          <FactorList factor={factor} changed={changed} />
          <FactorChoice email={email} hasApp={factor.app_since !== null} done={show} />
          {factor.since !== null && <CodesLeft factor={factor} show={show} />}
        </>
      )}
    </Loaded>
  );
}

interface CodesLeftProps {
  readonly factor: Schemas["SecondFactor"];
  readonly show: (codes: readonly string[]) => void;
}

function CodesLeft({ factor, show }: CodesLeftProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Text>{at.codesLeft(factor.recovery_codes_left)}</Text>
      <Button variant="default" style={{ alignSelf: "start" }} onClick={() => setOpen(true)}>
        {at.newCodes}
      </Button>
      {isOpen && (
        <PasswordDialog
          title={at.newCodes}
          hint={at.newCodesHint}
          close={() => setOpen(false)}
          send={(body) => answerOf(api.POST("/session/second-factor/recovery-codes", { body }))}
          done={({ recovery_codes: codes }) => {
            setOpen(false);
            show(codes);
          }}
        />
      )}
    </>
  );
}
