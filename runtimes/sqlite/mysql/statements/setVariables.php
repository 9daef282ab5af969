<?php
namespace WP_MySQL_Layer;

use PDOException;
use PDOStatement;
use WP_MySQL_Lexer;
use WP_Parser_Node;

/**
 * `SET`. The driver keeps the session's variables. Here global variables count for the session only, and those that change
 * what the layer does take effect.
 */
final class Set_Variables implements Statement {
	/** Variables that change what the layer does. */
	private const EFFECTIVE = [ 'time_zone', 'autocommit', 'innodb_lock_wait_timeout', 'foreign_key_checks' ];

	private string $query;
	private Driver $driver;

	public function answer( WP_Parser_Node $node, string $query, Driver $driver ): ?PDOStatement {
		$this->query  = $query;
		$this->driver = $driver;
		foreach ( $node->get_descendant_nodes() as $part ) {
			$is_assignment = in_array( $part->rule_name, [ 'optionValueFollowingOptionType', 'optionValueNoOptionType' ], true )
				|| ( 'optionValue' === $part->rule_name && $part->has_child_node( 'optionType' ) );
			if ( $is_assignment ) {
				$this->assign( $part );
			}
		}
		return $driver->nothing( $query );
	}

	private function assign( WP_Parser_Node $part ): void {
		$user_variable = $part->get_first_child_node( 'userVariable' );
		if ( null !== $user_variable ) {
			// Statements with @name read what the layer keeps.
			$value = $this->text_of( $part->get_first_child_node( 'expr' ) );
			$this->driver->driver_query( 'SELECT ' . $this->text_of( $user_variable ) . " := ($value)" )->fetchAll();
			return;
		}
		$variable = $part->get_first_descendant_node( 'internalVariableName' );
		if ( null === $variable ) {
			$this->driver->driver_query( 'SET ' . $this->text_of( $part ) );
			return;
		}
		$name  = strtolower( Schema::name_of( $variable ) );
		$value = $part->get_first_child_node( 'setExprOrDefault' );
		try {
			$this->set( $this->text_of( $variable ), $this->text_of( $value ) );
		} catch ( PDOException $error ) {
			if ( 'sql_mode' !== $name ) {
				throw $error;
			}
			$this->set_known_modes( $this->text_of( $value ), $error );
		}
		$this->driver->variables()->note( $name, $value->has_child_token( WP_MySQL_Lexer::DEFAULT_SYMBOL ) );
		$this->take_effect( $name, $this->driver );
	}

	private function set( string $variable, string $value ): void {
		$this->driver->driver_query( "SET SESSION $variable = $value" );
	}

	/** Sets those modes of a list that MySQL 8 has: dumps of MariaDB and of older versions of MySQL name others as well. */
	private function set_known_modes( string $value, PDOException $error ): void {
		$modes = explode( ',', (string) $this->driver->driver_query( "SELECT $value" )->fetchColumn() );
		$known = array_filter( $modes, fn ( string $mode ) => $this->is_known( $mode ) );
		if ( [] === $known ) {
			throw $error;
		}
		$this->set( 'sql_mode', "'" . implode( ',', $known ) . "'" );
	}

	private function is_known( string $mode ): bool {
		try {
			$this->set( 'sql_mode', "'" . addcslashes( $mode, "\\'" ) . "'" );
			return true;
		} catch ( PDOException $_ ) {
			return false;
		}
	}

	private function text_of( WP_Parser_Node $node ): string {
		return substr( $this->query, $node->get_start(), $node->get_length() );
	}

	private function take_effect( string $name, Driver $driver ): void {
		if ( ! in_array( $name, self::EFFECTIVE, true ) ) {
			return;
		}
		$value = $driver->driver_query( 'SELECT @@' . Schema::quoted( $name ) )->fetchColumn();
		switch ( $name ) {
			case 'time_zone':
				$driver->variables()->set_time_zone( (string) $value );
				break;
			case 'autocommit':
				$driver->transactions()->set_autocommit( (bool) $value );
				break;
			case 'innodb_lock_wait_timeout':
				$driver->transactions()->wait_for( max( 1, (int) $value ) );
				break;
			case 'foreign_key_checks':
				$driver->transactions()->commit_before_definition();
				$driver->get_sqlite_pdo()->exec( 'PRAGMA foreign_keys = ' . ( $value ? 'ON' : 'OFF' ) );
				break;
		}
	}
}
