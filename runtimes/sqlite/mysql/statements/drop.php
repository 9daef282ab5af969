<?php
namespace WP_MySQL_Layer;

use PDOStatement;
use WP_MySQL_Lexer;
use WP_Parser_Node;

/**
 * `DROP`. The driver supports temporary tables only after the first one has been created. Triggers, procedures and such don't
 * exist, so that dropping them if they exist succeeds. The database stays.
 */
final class Drop implements Statement {
	private const NOTHING = [ 'dropEvent', 'dropFunction', 'dropProcedure', 'dropTrigger', 'dropView', 'dropUser' ];

	public function answer( WP_Parser_Node $node, string $query, Driver $driver ): ?PDOStatement {
		$drop = $node->get_first_child_node();
		if ( 'dropTable' === $drop->rule_name && $drop->has_child_token( WP_MySQL_Lexer::TEMPORARY_SYMBOL ) ) {
			$driver->schema()->prepare_temporary();
			return null;
		}
		if ( 'dropDatabase' === $drop->rule_name ) {
			return $this->drop_database( $drop, $query, $driver );
		}
		if ( ! in_array( $drop->rule_name, self::NOTHING, true ) ) {
			return null;
		}
		if ( ! $drop->has_child_node( 'ifExists' ) ) {
			throw Errors::create( $driver, 1305, Schema::last_name_of( $drop ) . ' does not exist' );
		}
		return $driver->nothing( $query );
	}

	private function drop_database( WP_Parser_Node $drop, string $query, Driver $driver ): PDOStatement {
		$name = Schema::last_name_of( $drop->get_first_child_node( 'schemaRef' ) );
		if ( 0 === strcasecmp( $name, $driver->schema()->database() ) ) {
			throw Errors::create( $driver, 1044, "Access denied for this user to database '$name'" );
		}
		if ( ! $drop->has_child_node( 'ifExists' ) ) {
			throw Errors::create( $driver, 1008, "Can't drop database '$name'; database doesn't exist" );
		}
		return $driver->nothing( $query );
	}
}
