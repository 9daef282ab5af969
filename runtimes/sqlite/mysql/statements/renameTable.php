<?php
namespace WP_MySQL_Layer;

use PDOStatement;
use WP_Parser_Node;

/** `RENAME TABLE a TO b, c TO d`: from left to right, all or none. */
final class Rename_Table implements Statement {
	public function answer( WP_Parser_Node $node, string $query, Driver $driver ): ?PDOStatement {
		$schema = $driver->schema();
		$driver->transactions()->atomically(
			static function () use ( $node, $schema, $driver ) {
				foreach ( $node->get_child_nodes( 'renamePair' ) as $pair ) {
					$from = $schema->name_in( $pair->get_first_child_node( 'tableRef' ) );
					$to   = $schema->name_in( $pair->get_first_child_node( 'tableName' ) );
					( $schema->find( $from ) ?? throw Errors::no_table( $driver, $from ) )->rename( $to );
				}
			}
		);
		return $driver->nothing( $query );
	}
}
