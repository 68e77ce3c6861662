// Package account is SQL's statements about users and rights: their grammar, and what they mean in the ACLs that
// both wires share. It changes nothing itself.
//
// The engine's parser knows a part of MySQL's grammar for them, and nothing of what Kafka has and MySQL has no words
// for (groups, transactional ids, ACLs that deny), so the grammar is here:
//
//	CREATE USER [IF NOT EXISTS] account [IDENTIFIED …], … [REQUIRE …] [ACCOUNT LOCK|UNLOCK]
//	ALTER USER [IF EXISTS] …, DROP USER, RENAME USER, SET PASSWORD, SHOW CREATE USER
//	GRANT|DENY rights ON object TO account, … [WITH GRANT OPTION]
//	REVOKE [IF EXISTS] [DENY] rights ON object FROM account, …
//	SHOW GRANTS [FOR account]
//
// An object is a table's (kafka.orders, kafka.`orders-%`, kafka.*, millrace.*, *.*), and the rights are MySQL's then;
// or it is said in Kafka's words (TOPIC, GROUP, TRANSACTIONAL_ID or USER with [PREFIX] 'name', or CLUSTER), and the rights
// are Kafka's operations.
package account
