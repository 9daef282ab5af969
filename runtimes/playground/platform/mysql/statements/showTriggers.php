<?php
namespace WP_MySQL_Layer;

use PDOStatement;
use WP_MySQL_Lexer;
use WP_Parser_Node;

/** `SHOW TRIGGERS`: there are none. */
final class Show_Triggers implements Statement {
	private const COLUMNS = [
		'Trigger',
		'Event',
		'Table',
		'Statement',
		'Timing',
		'Created',
		'sql_mode',
		'Definer',
		'character_set_client',
		'collation_connection',
		'Database Collation',
	];

	public function answer( WP_Parser_Node $node, string $query, Driver $driver ): ?PDOStatement {
		if ( ! $node->has_child_token( WP_MySQL_Lexer::TRIGGERS_SYMBOL ) ) {
			return null;
		}
		return $driver->result( self::COLUMNS, [], $query );
	}
}
