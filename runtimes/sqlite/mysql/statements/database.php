<?php
namespace WP_MySQL_Layer;

use PDOStatement;
use WP_Parser_Node;

/** `CREATE DATABASE` and `ALTER DATABASE`: there is one. */
final class Database implements Statement {
	public function answer( WP_Parser_Node $node, string $query, Driver $driver ): ?PDOStatement {
		$part = $node->get_first_child_node();
		if ( 'alterDatabase' === $part->rule_name ) {
			return $driver->nothing( $query );
		}
		if ( 'createDatabase' !== $part->rule_name ) {
			return null;
		}
		$name = Schema::last_name_of( $part->get_first_child_node( 'schemaName' ) );
		if ( 0 !== strcasecmp( $name, $driver->schema()->database() ) ) {
			throw Errors::create( $driver, 1044, "Access denied for this user to database '$name'" );
		}
		if ( ! $part->has_child_node( 'ifNotExists' ) ) {
			throw Errors::create( $driver, 1007, "Can't create database '$name'; database exists" );
		}
		return $driver->nothing( $query );
	}
}
