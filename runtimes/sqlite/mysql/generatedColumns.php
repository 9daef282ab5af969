<?php
namespace WP_MySQL_Layer;

use WP_MySQL_Lexer as Lexer;
use WP_MySQL_Token;
use WP_Parser_Node;

/**
 * `b int GENERATED ALWAYS AS (a * 2) STORED`. The driver gets them as columns with a default, `b int DEFAULT (a * 2)`, which it
 * translates and records; `Column_Definitions` makes them generated columns of SQLite. Their expressions are a part of the
 * database, so they may contain only what SQLite itself has, with the same meaning.
 */
final class Generated_Columns {
	private const TOKENS = [
		...[ Lexer::OPEN_PAR_SYMBOL, Lexer::CLOSE_PAR_SYMBOL, Lexer::COMMA_SYMBOL, Lexer::PLUS_OPERATOR, Lexer::MINUS_OPERATOR ],
		...[ Lexer::MULT_OPERATOR, Lexer::DIV_OPERATOR, Lexer::EQUAL_OPERATOR, Lexer::NOT_EQUAL_OPERATOR, Lexer::LESS_THAN_OPERATOR ],
		...[ Lexer::LESS_OR_EQUAL_OPERATOR, Lexer::GREATER_THAN_OPERATOR, Lexer::GREATER_OR_EQUAL_OPERATOR, Lexer::AND_SYMBOL ],
		...[ Lexer::OR_SYMBOL, Lexer::NOT_SYMBOL, Lexer::IS_SYMBOL, Lexer::NULL_SYMBOL, Lexer::IN_SYMBOL, Lexer::BETWEEN_SYMBOL ],
		...[ Lexer::CASE_SYMBOL, Lexer::WHEN_SYMBOL, Lexer::THEN_SYMBOL, Lexer::ELSE_SYMBOL, Lexer::END_SYMBOL, Lexer::COALESCE_SYMBOL ],
		...[ Lexer::INT_NUMBER, Lexer::LONG_NUMBER, Lexer::DECIMAL_NUMBER, Lexer::FLOAT_NUMBER, Lexer::SINGLE_QUOTED_TEXT ],
		...[ Lexer::IDENTIFIER, Lexer::BACK_TICK_QUOTED_ID ],
	];
	/** Names right before a parenthesis. */
	private const FUNCTIONS     = [ 'abs', 'coalesce', 'concat', 'ifnull', 'nullif', 'in', 'and', 'or', 'not', 'when', 'then', 'else', 'case', 'between' ];
	private const FRACTIONS     = [ Lexer::DIV_OPERATOR, Lexer::DECIMAL_NUMBER, Lexer::FLOAT_NUMBER ];
	private const WHOLE_NUMBERS = [ 'tinyint', 'smallint', 'mediumint', 'int', 'integer', 'bigint' ];

	private Driver $driver;
	private string $query;
	/** STORED or VIRTUAL, by name in lower case. @var array<string, string> */
	private array $kinds = [];
	/** Their expressions, by name. @var array<string, string> */
	private array $expressions = [];

	/** @param string $query The statement whose nodes `text_of` gets. */
	public function __construct( Driver $driver, string $query ) {
		$this->driver = $driver;
		$this->query  = $query;
	}

	/** Returns STORED or VIRTUAL for a column with this `EXTRA` in the record, or null. */
	public static function kind( string $extra ): ?string {
		return 1 === preg_match( '/(STORED|VIRTUAL) GENERATED/', $extra, $found ) ? $found[1] : null;
	}

	public static function is_generated( WP_Parser_Node $field ): bool {
		return $field->has_child_token( Lexer::AS_SYMBOL );
	}

	/**
	 * Returns the text of a node, with defaults instead of generated columns, and dates as defaults in their column's form.
	 *
	 * @throws \WP_MySQL_On_SQLite_Exception If SQLite has no counterpart of an expression.
	 */
	public function text_of( WP_Parser_Node $node ): string {
		$text = substr( $this->query, $node->get_start(), $node->get_length() );
		foreach ( array_reverse( [ $node, ...$node->get_descendant_nodes() ] ) as $parent ) {
			$field = $parent->get_first_child_node( 'fieldDefinition' );
			if ( null === $field || ! self::is_generated( $field ) ) {
				$text = null === $field ? $text : self::with_date( $text, $node->get_start(), $field );
				continue;
			}
			$before       = array_filter( $parent->get_descendant_tokens(), static fn ( $token ) => $token->start < $field->get_start() );
			$name         = end( $before )->get_value();
			$first        = $field->get_first_child_token( Lexer::GENERATED_SYMBOL ) ?? $field->get_first_child_token( Lexer::AS_SYMBOL );
			$expression   = $field->get_first_child_node( 'exprWithParentheses' );
			$kind         = $field->get_first_child_token( Lexer::STORED_SYMBOL ) ?? $field->get_first_child_token( Lexer::VIRTUAL_SYMBOL );
			$end          = null === $kind ? $expression->get_start() + $expression->get_length() : $kind->start + $kind->length;
			$replacement  = 'DEFAULT (' . $this->translated( $name, $expression->get_first_child_node( 'expr' ), $field ) . ')';
			$text         = substr_replace( $text, $replacement, $first->start - $node->get_start(), $end - $first->start );
			$this->kinds[ strtolower( $name ) ] = null === $kind ? 'VIRTUAL' : strtoupper( $kind->get_value() );
			$this->expressions[ $name ]         = substr( $this->query, $expression->get_start() + 1, $expression->get_length() - 2 );
		}
		return $text;
	}

	/** Returns a text that begins at $start of the query with the default of a date in the form in which its column keeps it. */
	private static function with_date( string $text, int $start, WP_Parser_Node $field ): string {
		$type = strtolower( $field->get_first_descendant_node( 'dataType' )->get_first_descendant_token()->get_value() );
		foreach ( 0 === Columns::time_of( $type ) ? [] : $field->get_child_nodes( 'columnAttribute' ) as $attribute ) {
			$literal = $attribute->has_child_token( Lexer::DEFAULT_SYMBOL ) ? $attribute->get_first_child_node( 'signedLiteral' ) : null;
			$value   = null === $literal ? null : Literals::as_default( $literal, $type );
			if ( null !== $value && 1 === preg_match( '/^[-: \d]+$/D', $value ) ) {
				return substr_replace( $text, "'$value'", $literal->get_start() - $start, $literal->get_length() );
			}
		}
		return $text;
	}

	private function translated( string $name, WP_Parser_Node $expr, WP_Parser_Node $field ): string {
		$text   = '';
		$end    = $expr->get_start();
		$tokens = $expr->get_descendant_tokens();
		$names  = [];
		foreach ( $expr->get_descendant_nodes( 'columnRef' ) as $column ) {
			$names[ $column->get_start() ] = true;
		}
		foreach ( $tokens as $i => $token ) {
			$is_call = Lexer::OPEN_PAR_SYMBOL === ( $tokens[ $i + 1 ]->id ?? null ) && 1 === preg_match( '/^\w/', $token->get_bytes() );
			// Keywords may be names of columns.
			$is_known = isset( $names[ $token->start ] ) || in_array( $token->id, self::TOKENS, true );
			if ( ! $is_known || ( $is_call && ! in_array( strtolower( $token->get_value() ), self::FUNCTIONS, true ) ) ) {
				throw Errors::unsupported( $this->driver, "The generated column '$name' needs more than sums, comparisons, CASE, and the functions ABS, COALESCE, CONCAT, IFNULL and NULLIF" );
			}
			if ( Lexer::DIV_OPERATOR === $token->id ) {
				// SQLite divides whole numbers without a rest.
				$text .= substr( $this->query, $end, $token->start - $end ) . '* 1.0 /';
				$end   = $token->start + $token->length;
			}
		}
		$text .= substr( $this->query, $end, $expr->get_start() + $expr->get_length() - $end );
		return $this->rounded( $text, $tokens, $field );
	}

	/** Numbers are stored with the digits that the column has. @param WP_MySQL_Token[] $tokens */
	private function rounded( string $text, array $tokens, WP_Parser_Node $field ): string {
		$type         = $field->get_first_descendant_node( 'dataType' );
		$name         = strtolower( $type->get_first_descendant_token()->get_value() );
		$has_fraction = [] !== array_filter( $tokens, static fn ( $token ) => in_array( $token->id, self::FRACTIONS, true ) );
		if ( $has_fraction && in_array( $name, self::WHOLE_NUMBERS, true ) ) {
			return "CAST(ROUND($text) AS SIGNED)";
		}
		$sizes = $type->get_descendant_tokens( Lexer::INT_NUMBER );
		return $has_fraction && 'decimal' === $name ? "ROUND($text, " . ( isset( $sizes[1] ) ? $sizes[1]->get_value() : '0' ) . ')' : $text;
	}

	/** Runs the driver's statement that creates the columns, and records what they are. */
	public function create( Table $table, string $statement ): void {
		$this->driver->generate_columns( $this->kinds );
		try {
			$this->driver->driver_query( $statement );
		} finally {
			$this->driver->generate_columns( [] );
		}
		foreach ( $this->expressions as $name => $expression ) {
			$this->driver->execute_sqlite_query(
				"UPDATE {$table->record( 'columns' )} SET extra = ?, generation_expression = ? WHERE table_name = ? AND column_name = ?",
				[ 'DEFAULT_GENERATED ' . $this->kinds[ strtolower( $name ) ] . ' GENERATED', $expression, $table->name, $name ]
			);
		}
	}
}
