-- Whether WordPress's XML-RPC interface can be used. Kept through a deletion and a restore.
alter table environments add column is_xml_rpc_on boolean not null default false;
alter table deleted_environments add column is_xml_rpc_on boolean not null default false;
