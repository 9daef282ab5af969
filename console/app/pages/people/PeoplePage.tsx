import { Button, Paper, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { type Person, peopleQuery } from "../../api/people.ts";
import { may, useSignedIn } from "../../api/session.ts";
import { ActionButton } from "../../parts/ActionButton.tsx";
import { EmptyState } from "../../parts/EmptyState.tsx";
import { Loaded } from "../../parts/Failure.tsx";
import { Page } from "../../parts/Page.tsx";
import { texts } from "../../texts.ts";
import { AccessDialog } from "./AccessDialog.tsx";
import { Invitations } from "./Invitations.tsx";
import { InviteDialog } from "./InviteDialog.tsx";
import { PersonRow } from "./PersonRow.tsx";
import { RemoveDialog } from "./RemoveDialog.tsx";
import { ResetDialog } from "./ResetDialog.tsx";
import { SignInRules } from "./SignInRules.tsx";

const at = texts.people;

type Opened =
  | { readonly dialog: "invite" }
  | { readonly dialog: "access" | "remove" | "reset"; readonly person: Person }
  | undefined;

/** The people of the company: who they are, what they may do, and who is invited. */
export function PeoplePage() {
  const session = useSignedIn();
  const company = session?.company.id ?? "";
  const mayManage = may(session, "manage_users");
  const people = useQuery(peopleQuery(company));
  const [opened, open] = useState<Opened>();
  const close = () => open(undefined);
  const invite = () => open({ dialog: "invite" });
  return (
    <Page
      title={at.title}
      actions={
        <ActionButton reason={mayManage ? null : at.needsAdmin} onClick={invite}>
          {at.invite}
        </ActionButton>
      }
    >
      <Text>{at.hint}</Text>
      <Loaded query={people}>
        {(found) => (
          <>
            <Paper withBorder component="ul" className="list" aria-label={at.title}>
              {found.map((person) => (
                <PersonRow
                  key={person.user.id}
                  person={person}
                  change={() => open({ dialog: "access", person })}
                  reset={() => open({ dialog: "reset", person })}
                  remove={() => open({ dialog: "remove", person })}
                />
              ))}
            </Paper>
            {found.length === 1 && mayManage && (
              <EmptyState title={at.alone} hint={at.aloneHint}>
                <Button variant="default" onClick={invite}>
                  {at.invite}
                </Button>
              </EmptyState>
            )}
            <SignInRules company={company} people={found} />
            {mayManage && <Invitations company={company} people={found} />}
          </>
        )}
      </Loaded>
      {opened?.dialog === "invite" && <InviteDialog company={company} close={close} />}
      {opened?.dialog === "access" && <AccessDialog company={company} person={opened.person} close={close} />}
      {opened?.dialog === "reset" && <ResetDialog company={company} user={opened.person.user} close={close} />}
      {opened?.dialog === "remove" && <RemoveDialog company={company} user={opened.person.user} close={close} />}
    </Page>
  );
}
