<?php
namespace WP_MySQL_Layer;

use PDO;
use PDOStatement;
use WP_MySQL_Lexer;
use WP_Parser_Node;

/**
 * `CREATE TABLE`. The driver creates tables with a list of columns. `LIKE` and `AS SELECT` are done here, and so is what it
 * gets wrong: temporary tables with `IF NOT EXISTS`, and collations.
 */
final class Create_Table implements Statement {
	private Driver $driver;
	private WP_Parser_Node $create;
	private string $query;
	private string $name;
	private bool $is_temporary;

	public function answer( WP_Parser_Node $node, string $query, Driver $driver ): ?PDOStatement {
		$create = $node->get_first_child_node( 'createTable' );
		if ( null === $create ) {
			return null;
		}
		$this->driver       = $driver;
		$this->create       = $create;
		$this->query        = $query;
		$this->name         = $driver->schema()->name_in( $create->get_first_child_node( 'tableName' ) );
		$this->is_temporary = $create->has_child_token( WP_MySQL_Lexer::TEMPORARY_SYMBOL );
		if ( $this->is_temporary ) {
			$driver->schema()->prepare_temporary();
		}
		if ( $this->exists() ) {
			if ( ! $create->has_child_node( 'ifNotExists' ) ) {
				throw Errors::table_exists( $driver, $this->name );
			}
			return $driver->nothing( $query );
		}
		$affected = 0;
		$driver->transactions()->atomically(
			function () use ( &$affected ) {
				$affected = $this->create();
			}
		);
		return $driver->nothing( $query, $affected );
	}

	private function exists(): bool {
		$schema = $this->driver->schema();
		return $this->is_temporary
			? $schema->find( $this->name )->is_temporary ?? false
			: null !== $schema->find_permanent( $this->name );
	}

	/** Returns the number of rows. */
	private function create(): int {
		if ( $this->create->has_child_token( WP_MySQL_Lexer::LIKE_SYMBOL ) ) {
			$source = $this->driver->schema()->get( $this->create->get_first_child_node( 'tableRef' ) );
			if ( 0 === strcasecmp( $source->name, $this->name ) ) {
				throw Errors::create( $this->driver, 1066, "Not unique table/alias: '{$this->name}'" );
			}
			$source->copy_empty( $this->name, $this->is_temporary );
			return 0;
		}
		$select = $this->create->get_first_child_node( 'duplicateAsQueryExpression' );
		$table  = new Table( $this->driver, $this->name, $this->is_temporary );
		$this->check_references();
		if ( null === $select ) {
			$columns = new Generated_Columns( $this->driver, $this->without_ignored() );
			$columns->create( $table, 'CREATE ' . $columns->text_of( $this->create ) );
		} else {
			$this->define( $this->text_of( $select->get_first_child_node( 'queryExpressionOrParens' ) ) );
		}
		( new Collations( $this->driver, $table ) )->created( $this->create );
		$table->settle_keys();
		$table->settle_triggers();
		return null === $select ? 0 : $this->fill( $select );
	}

	/** Refuses foreign keys to tables that don't exist, unless they are not checked: no row could be added. */
	private function check_references(): void {
		foreach ( $this->create->get_descendant_nodes( 'tableConstraintDef' ) as $constraint ) {
			$references = $constraint->get_first_child_node( 'references' );
			if ( null === $references ) {
				continue;
			}
			$name = $this->driver->schema()->name_in( $references->get_first_child_node( 'tableRef' ) );
			if ( 0 === strcasecmp( $name, $this->name ) || null !== $this->driver->schema()->find_permanent( $name ) ) {
				continue;
			}
			if ( '0' !== (string) $this->driver->driver_query( 'SELECT @@foreign_key_checks' )->fetchColumn() ) {
				throw Errors::create( $this->driver, 1824, "Failed to open the referenced table '$name'" );
			}
		}
	}

	/**
	 * Returns the statement without two things that mean nothing: character sets of texts, as MySQL 8 writes them in defaults and
	 * checks, and references in the definitions of columns, which SQLite would check.
	 */
	private function without_ignored(): string {
		$text = $this->query;
		foreach ( $this->create->get_descendant_nodes( 'columnDefinition' ) as $definition ) {
			foreach ( $definition->get_descendant_nodes( 'references' ) as $node ) {
				$text = substr_replace( $text, str_repeat( ' ', $node->get_length() ), $node->get_start(), $node->get_length() );
			}
		}
		foreach ( $this->create->get_descendant_tokens() as $token ) {
			if ( WP_MySQL_Lexer::UNDERSCORE_CHARSET === $token->id ) {
				$text = substr_replace( $text, str_repeat( ' ', $token->length ), $token->start, $token->length );
			}
		}
		return $text;
	}

	private function text_of( WP_Parser_Node $node ): string {
		return substr( $this->query, $node->get_start(), $node->get_length() );
	}

	/** Creates the table with the columns of a list, if there is one, and those of a SELECT. */
	private function define( string $select ): void {
		$elements = [];
		$names    = [];
		foreach ( $this->create->get_descendant_nodes( 'tableElement' ) as $element ) {
			$definition = $element->get_first_child_node( 'columnDefinition' );
			if ( null !== $definition ) {
				$names[] = strtolower( Schema::last_name_of( $definition->get_first_child_node( 'fieldIdentifier' ) ) );
			}
			$elements[ null === $definition ? 'keys' : 'columns' ][] = $this->text_of( $element );
		}
		foreach ( ( new Select_Columns( $this->driver ) )->of( $select ) as $name => $definition ) {
			if ( ! in_array( strtolower( $name ), $names, true ) ) {
				$elements['columns'][] = Schema::quoted( $name ) . " $definition";
			}
		}
		$options = $this->create->get_first_child_node( 'createTableOptions' );
		$this->driver->driver_query(
			sprintf(
				'CREATE %sTABLE %s (%s) %s',
				$this->is_temporary ? 'TEMPORARY ' : '',
				Schema::quoted( $this->name ),
				implode( ', ', array_merge( $elements['columns'], $elements['keys'] ?? [] ) ),
				null === $options ? '' : $this->text_of( $options )
			)
		);
	}

	/** Inserts the rows of the SELECT. Returns their number. */
	private function fill( WP_Parser_Node $select ): int {
		$text    = $this->text_of( $select->get_first_child_node( 'queryExpressionOrParens' ) );
		$columns = array_keys( ( new Select_Columns( $this->driver ) )->of( $text ) );
		$verb    = $select->has_child_token( WP_MySQL_Lexer::REPLACE_SYMBOL ) ? 'REPLACE' : 'INSERT';
		$ignore  = $select->has_child_token( WP_MySQL_Lexer::IGNORE_SYMBOL ) ? ' IGNORE' : '';
		return $this->driver->driver_query(
			sprintf(
				'%s%s INTO %s (%s) %s',
				$verb,
				$ignore,
				Schema::quoted( $this->name ),
				implode( ', ', array_map( [ Schema::class, 'quoted' ], $columns ) ),
				$text
			)
		)->rowCount();
	}
}
