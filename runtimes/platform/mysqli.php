<?php
/**
 * The functions of mysqli, as calls of methods. PHP's own, which are switched off in favour of these, take only connections of
 * the extension; these also take the database driver's object that plugins get as `$wpdb->dbh`.
 */

/**
 * Returns a property of a connection. The driver's object has a method for it: PHP would look for the extension's connection.
 */
function sitewright_mysqli_fact( object $mysql, string $name ) {
	return method_exists( $mysql, 'fact' ) ? $mysql->fact( $name ) : $mysql->$name;
}

function mysqli_autocommit( $mysql, bool $enable ) {
	return $mysql->autocommit( $enable );
}

function mysqli_begin_transaction( $mysql, int $flags = 0, ?string $name = null ) {
	return $mysql->begin_transaction( $flags, $name );
}

function mysqli_change_user( $mysql, string $username, string $password, ?string $database ) {
	return $mysql->change_user( $username, $password, $database );
}

function mysqli_character_set_name( $mysql ) {
	return $mysql->character_set_name();
}

function mysqli_close( $mysql ) {
	return $mysql->close();
}

function mysqli_commit( $mysql, int $flags = 0, ?string $name = null ) {
	return $mysql->commit( $flags, $name );
}

function mysqli_dump_debug_info( $mysql ) {
	return $mysql->dump_debug_info();
}

function mysqli_execute_query( $mysql, string $query, ?array $params = null ) {
	return method_exists( $mysql, 'fact' )
		? $mysql->run_with( $query, $params ?? array() )
		: $mysql->execute_query( $query, $params );
}

function mysqli_get_charset( $mysql ) {
	return $mysql->get_charset();
}

function mysqli_get_warnings( $mysql ) {
	return $mysql->get_warnings();
}

function mysqli_kill( $mysql, int $process_id ) {
	return $mysql->kill( $process_id );
}

function mysqli_more_results( $mysql ) {
	return $mysql->more_results();
}

function mysqli_multi_query( $mysql, string $query ) {
	return $mysql->multi_query( $query );
}

function mysqli_next_result( $mysql ) {
	return $mysql->next_result();
}

function mysqli_ping( $mysql ) {
	return $mysql->ping();
}

function mysqli_prepare( $mysql, string $query ) {
	return $mysql->prepare( $query );
}

function mysqli_query( $mysql, string $query, int $result_mode = MYSQLI_STORE_RESULT ) {
	return $mysql->query( $query, $result_mode );
}

function mysqli_real_escape_string( $mysql, string $string ) {
	return $mysql->real_escape_string( $string );
}

function mysqli_real_query( $mysql, string $query ) {
	return $mysql->real_query( $query );
}

function mysqli_refresh( $mysql, int $flags ) {
	return $mysql->refresh( $flags );
}

function mysqli_release_savepoint( $mysql, string $name ) {
	return $mysql->release_savepoint( $name );
}

function mysqli_rollback( $mysql, int $flags = 0, ?string $name = null ) {
	return $mysql->rollback( $flags, $name );
}

function mysqli_savepoint( $mysql, string $name ) {
	return $mysql->savepoint( $name );
}

function mysqli_select_db( $mysql, string $database ) {
	return $mysql->select_db( $database );
}

function mysqli_set_charset( $mysql, string $charset ) {
	return $mysql->set_charset( $charset );
}

function mysqli_stat( $mysql ) {
	return $mysql->stat();
}

function mysqli_stmt_init( $mysql ) {
	return $mysql->stmt_init();
}

function mysqli_store_result( $mysql, int $mode = 0 ) {
	return $mysql->store_result( $mode );
}

function mysqli_use_result( $mysql ) {
	return $mysql->use_result();
}

function mysqli_escape_string( $mysql, string $string ) {
	return $mysql->real_escape_string( $string );
}

function mysqli_affected_rows( $mysql ) {
	return sitewright_mysqli_fact( $mysql, 'affected_rows' );
}

function mysqli_errno( $mysql ) {
	return sitewright_mysqli_fact( $mysql, 'errno' );
}

function mysqli_error( $mysql ) {
	return sitewright_mysqli_fact( $mysql, 'error' );
}

function mysqli_error_list( $mysql ) {
	return sitewright_mysqli_fact( $mysql, 'error_list' );
}

function mysqli_field_count( $mysql ) {
	return sitewright_mysqli_fact( $mysql, 'field_count' );
}

function mysqli_get_host_info( $mysql ) {
	return sitewright_mysqli_fact( $mysql, 'host_info' );
}

function mysqli_get_proto_info( $mysql ) {
	return sitewright_mysqli_fact( $mysql, 'protocol_version' );
}

function mysqli_get_server_info( $mysql ) {
	return sitewright_mysqli_fact( $mysql, 'server_info' );
}

function mysqli_get_server_version( $mysql ) {
	return sitewright_mysqli_fact( $mysql, 'server_version' );
}

function mysqli_info( $mysql ) {
	return sitewright_mysqli_fact( $mysql, 'info' );
}

function mysqli_insert_id( $mysql ) {
	return sitewright_mysqli_fact( $mysql, 'insert_id' );
}

function mysqli_sqlstate( $mysql ) {
	return sitewright_mysqli_fact( $mysql, 'sqlstate' );
}

function mysqli_thread_id( $mysql ) {
	return sitewright_mysqli_fact( $mysql, 'thread_id' );
}

function mysqli_warning_count( $mysql ) {
	return sitewright_mysqli_fact( $mysql, 'warning_count' );
}

function mysqli_data_seek( $result, int $offset ) {
	return $result->data_seek( $offset );
}

function mysqli_fetch_all( $result, int $mode = MYSQLI_NUM ) {
	return $result->fetch_all( $mode );
}

function mysqli_fetch_array( $result, int $mode = MYSQLI_BOTH ) {
	return $result->fetch_array( $mode );
}

function mysqli_fetch_assoc( $result ) {
	return $result->fetch_assoc();
}

function mysqli_fetch_column( $result, int $column = 0 ) {
	return $result->fetch_column( $column );
}

function mysqli_fetch_field( $result ) {
	return $result->fetch_field();
}

function mysqli_fetch_field_direct( $result, int $index ) {
	return $result->fetch_field_direct( $index );
}

function mysqli_fetch_fields( $result ) {
	return $result->fetch_fields();
}

function mysqli_fetch_object( $result, string $class = 'stdClass', array $constructor_args = array() ) {
	return $result->fetch_object( $class, $constructor_args );
}

function mysqli_fetch_row( $result ) {
	return $result->fetch_row();
}

function mysqli_field_seek( $result, int $index ) {
	return $result->field_seek( $index );
}

function mysqli_free_result( $result ) {
	$result->free();
}

function mysqli_fetch_lengths( $result ) {
	return $result->lengths;
}

function mysqli_field_tell( $result ) {
	return $result->current_field;
}

function mysqli_num_fields( $result ) {
	return $result->field_count;
}

function mysqli_num_rows( $result ) {
	return $result->num_rows;
}

function mysqli_stmt_attr_get( $statement, int $attribute ) {
	return $statement->attr_get( $attribute );
}

function mysqli_stmt_attr_set( $statement, int $attribute, int $value ) {
	return $statement->attr_set( $attribute, $value );
}

function mysqli_stmt_close( $statement ) {
	return $statement->close();
}

function mysqli_stmt_data_seek( $statement, int $offset ) {
	return $statement->data_seek( $offset );
}

function mysqli_stmt_execute( $statement, ?array $params = null ) {
	return $statement->execute( $params );
}

function mysqli_stmt_fetch( $statement ) {
	return $statement->fetch();
}

function mysqli_stmt_free_result( $statement ) {
	return $statement->free_result();
}

function mysqli_stmt_get_result( $statement ) {
	return $statement->get_result();
}

function mysqli_stmt_get_warnings( $statement ) {
	return $statement->get_warnings();
}

function mysqli_stmt_more_results( $statement ) {
	return $statement->more_results();
}

function mysqli_stmt_next_result( $statement ) {
	return $statement->next_result();
}

function mysqli_stmt_prepare( $statement, string $query ) {
	return $statement->prepare( $query );
}

function mysqli_stmt_reset( $statement ) {
	return $statement->reset();
}

function mysqli_stmt_result_metadata( $statement ) {
	return $statement->result_metadata();
}

function mysqli_stmt_send_long_data( $statement, int $param_num, string $data ) {
	return $statement->send_long_data( $param_num, $data );
}

function mysqli_stmt_store_result( $statement ) {
	return $statement->store_result();
}

function mysqli_execute( $statement, ?array $params = null ) {
	return $statement->execute( $params );
}

function mysqli_stmt_bind_param( $statement, string $types, &...$vars ) {
	return $statement->bind_param( $types, ...$vars );
}

function mysqli_stmt_bind_result( $statement, &...$vars ) {
	return $statement->bind_result( ...$vars );
}

function mysqli_stmt_affected_rows( $statement ) {
	return $statement->affected_rows;
}

function mysqli_stmt_errno( $statement ) {
	return $statement->errno;
}

function mysqli_stmt_error( $statement ) {
	return $statement->error;
}

function mysqli_stmt_error_list( $statement ) {
	return $statement->error_list;
}

function mysqli_stmt_field_count( $statement ) {
	return $statement->field_count;
}

function mysqli_stmt_insert_id( $statement ) {
	return $statement->insert_id;
}

function mysqli_stmt_num_rows( $statement ) {
	return $statement->num_rows;
}

function mysqli_stmt_param_count( $statement ) {
	return $statement->param_count;
}

function mysqli_stmt_sqlstate( $statement ) {
	return $statement->sqlstate;
}
