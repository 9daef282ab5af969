<?php
namespace WP_MySQL_Layer;

use PDOStatement;
use WP_Parser_Node;

/** `CREATE INDEX` and `DROP INDEX`, which the driver carries out. The driver's record of column keys differs from MySQL's. */
final class Index implements Statement {
	public function answer( WP_Parser_Node $node, string $query, Driver $driver ): ?PDOStatement {
		$index = $node->get_first_child_node( 'createIndex' ) ?? $node->get_first_child_node( 'dropIndex' );
		$name  = $index?->get_first_descendant_node( 'tableRef' );
		if ( null === $name ) {
			return null;
		}
		$table  = $driver->schema()->get( $name );
		$result = $driver->driver_query( $query );
		$table->settle_keys();
		return $result;
	}
}
