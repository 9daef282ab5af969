/** Adds a passkey or an authenticator app, whichever the person chooses. */
import { Group, Stack } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { passkeyObstacle, signInOptionsQuery } from "../api/passkeys.ts";
import { texts } from "../texts.ts";
import { ActionButton } from "./ActionButton.tsx";
import { AddPasskey } from "./AddPasskey.tsx";
import { AddSecondFactor } from "./AddSecondFactor.tsx";
import { Failure } from "./Failure.tsx";

interface FactorChoiceProps {
  readonly email: string;
  readonly hasApp: boolean;
  /** Gets new recovery codes, or none. */
  readonly done: (recoveryCodes: readonly string[]) => void;
}

export function FactorChoice({ email, hasApp, done }: FactorChoiceProps) {
  const [chosen, choose] = useState<"passkey" | "app" | null>(null);
  const options = useQuery(signInOptionsQuery);
  const finish = (codes: readonly string[]) => {
    choose(null);
    done(codes);
  };
  return (
    <Stack>
      <Failure error={options.error} retry={() => void options.refetch()} />
      <Group>
        <ActionButton
          variant={chosen === "passkey" ? "light" : "default"}
          reason={passkeyObstacle(options)}
          onClick={() => choose("passkey")}
        >
          {texts.passkeys.add}
        </ActionButton>
        {!hasApp && (
          <ActionButton variant={chosen === "app" ? "light" : "default"} onClick={() => choose("app")}>
            {texts.secondFactor.add}
          </ActionButton>
        )}
      </Group>
      {chosen === "passkey" && <AddPasskey email={email} done={finish} />}
      {chosen === "app" && <AddSecondFactor email={email} done={finish} />}
    </Stack>
  );
}
