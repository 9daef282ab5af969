<?php
namespace WP_MySQL_Layer;

use WP_MySQL_Lexer;

/** A parser whose statements have been rewritten. */
final class Parser extends \WP_MySQL_Parser {
	/** First tokens of statements that define tables. */
	private const DEFINITIONS = [ WP_MySQL_Lexer::CREATE_SYMBOL, WP_MySQL_Lexer::ALTER_SYMBOL ];

	private Rewriter $rewriter;
	private Driver $driver;
	private string $query;

	/** Takes the place of a parser of the text `$query` that has not started yet. */
	public function __construct( \WP_MySQL_Parser $parser, string $query, Rewriter $rewriter, Driver $driver ) {
		if ( WP_MySQL_Lexer::EOF !== ( $parser->tokens[ count( $parser->tokens ) - 1 ]->id ?? null ) ) {
			// A text or comment without an end, or a sign that is none of MySQL's.
			throw Errors::create( $driver, 1064, 'You have an error in your SQL syntax' );
		}
		Statement_Size::check( $parser->tokens, $query, $driver );
		parent::__construct( $parser->grammar, $parser->tokens );
		$this->rewriter = $rewriter;
		$this->driver   = $driver;
		$this->query    = $query;
	}

	/** Returns the statement's tokens. @return \WP_MySQL_Token[] */
	public function tokens(): array {
		return $this->tokens;
	}

	public function get_query_ast(): ?\WP_Parser_Node {
		$statement = parent::get_query_ast();
		if ( null === $statement ) {
			return null;
		}
		// The layer's functions must not become part of the database.
		$is_definition = in_array( $this->tokens[0]->id, self::DEFINITIONS, true );
		$this->driver->begin_definition( $is_definition ? $statement : null );
		return $is_definition ? $statement : $this->rewriter->rewrite( $statement, $this->tokens, $this->query );
	}
}

/** A parser of one statement whose tree is known. */
final class Known_Parser extends \WP_MySQL_Parser {
	private \WP_Parser_Node $tree;
	private bool $has_begun = false;

	public function __construct( \WP_Parser_Node $tree ) {
		$this->tree = $tree;
	}

	public function next_query(): bool {
		[ $is_first, $this->has_begun ] = [ ! $this->has_begun, true ];
		return $is_first;
	}

	public function get_query_ast(): \WP_Parser_Node {
		return $this->tree;
	}
}
