// SPDX-License-Identifier: Apache-2.0
package io.isolde.cql;

import io.isolde.peers.NewName;
import io.isolde.replication.KeyspaceStatements;
import io.isolde.replication.PrivateField;
import io.isolde.replication.ReplicatedLogStrategy;
import io.isolde.unique.UniqueIndex;
import java.util.Map;
import java.util.Optional;
import org.apache.cassandra.cql3.CQLStatement;
import org.apache.cassandra.cql3.statements.PropertyDefinitions;
import org.apache.cassandra.cql3.statements.schema.AlterSchemaStatement;
import org.apache.cassandra.cql3.statements.schema.AlterTableStatement;
import org.apache.cassandra.cql3.statements.schema.AlterViewStatement;
import org.apache.cassandra.cql3.statements.schema.CreateIndexStatement;
import org.apache.cassandra.cql3.statements.schema.CreateKeyspaceStatement;
import org.apache.cassandra.cql3.statements.schema.CreateTableStatement;
import org.apache.cassandra.cql3.statements.schema.CreateViewStatement;
import org.apache.cassandra.cql3.statements.schema.IndexAttributes;

/** Which of Cassandra's own statements put a class of Isolde into the schema. */
final class IsoldeInSchema {
  private static final String PACKAGE = "io.isolde.";

  /** Where the options of a table are, by the kind of statement. */
  private static final Map<Class<?>, PrivateField> TABLE_ATTRIBUTES =
      Map.of(
          CreateTableStatement.class,
          attributes(CreateTableStatement.class),
          CreateViewStatement.class,
          attributes(CreateViewStatement.class),
          AlterViewStatement.class,
          attributes(AlterViewStatement.class),
          alterOptions(),
          attributes(alterOptions()));

  private static final PrivateField INDEX_ATTRIBUTES = attributes(CreateIndexStatement.class);
  private static final PrivateField PROPERTIES =
      PrivateField.of(PropertyDefinitions.class, "properties");

  private IsoldeInSchema() {}

  private static PrivateField attributes(Class<?> statement) {
    return PrivateField.of(statement, "attrs");
  }

  private static Class<?> alterOptions() {
    try {
      return Class.forName(AlterTableStatement.class.getName() + "$AlterOptions");
    } catch (ClassNotFoundException e) {
      throw new IllegalStateException("This is not the Cassandra that Isolde is made for.", e);
    }
  }

  /**
   * Returns what a statement does, in words, if a node without Isolde could not load the schema
   * after it; empty if it does no such thing. No keyspace is put into the schema that is there
   * already, and none can be altered to be a strong one.
   */
  static Optional<String> subject(CQLStatement statement) {
    if (statement instanceof CreateKeyspaceStatement create
        && KeyspaceStatements.isStrong(create)
        && !new NewName(create.keyspace(), null).isThere()) {
      return Optional.of("CREATE KEYSPACE " + create.keyspace());
    }
    if (statement instanceof CreateIndexStatement create
        && INDEX_ATTRIBUTES.get(create) instanceof IndexAttributes attributes
        && isOurs(attributes.customClass)) {
      return Optional.of("CREATE CUSTOM INDEX on a table of " + create.keyspace());
    }
    return tableOptions(statement)
        .flatMap(IsoldeInSchema::classIn)
        .map(
            name ->
                "A table of %s with the class %s"
                    .formatted(((AlterSchemaStatement) statement).keyspace(), name));
  }

  /** What a statement makes that keeps what it is given by an id of its own; empty for all else. */
  static Optional<NewName> newName(CQLStatement statement, boolean isTransactional) {
    Optional<NewName> name = Optional.empty();
    if (statement instanceof CreateKeyspaceStatement create
        && KeyspaceStatements.isStrong(create)) {
      name = Optional.of(new NewName(create.keyspace(), null));
    } else if (statement instanceof CreateTableStatement create
        && (isTransactional || ReplicatedLogStrategy.isOf(create.keyspace()))) {
      name = Optional.of(new NewName(create.keyspace(), create.getAuditLogContext().scope));
    }
    return name.filter(NewName::isValid); // Else Cassandra says what is wrong.
  }

  /** The options of CREATE TABLE and ALTER TABLE, and of views, by their names. */
  static Optional<Map<String, Object>> tableOptions(CQLStatement statement) {
    PrivateField options = TABLE_ATTRIBUTES.get(statement.getClass());
    if (options == null || !(options.get(statement) instanceof PropertyDefinitions attributes)) {
      return Optional.empty();
    }
    @SuppressWarnings("unchecked") // as the field declares
    Map<String, Object> byName = (Map<String, Object>) PROPERTIES.get(attributes);
    return Optional.of(byName);
  }

  /** Whether a statement makes a unique index. */
  static boolean isUniqueIndex(CQLStatement statement) {
    return statement instanceof CreateIndexStatement create
        && INDEX_ATTRIBUTES.get(create) instanceof IndexAttributes attributes
        && UniqueIndex.class.getName().equals(attributes.customClass);
  }

  /** Such as the class of its compaction. */
  private static Optional<String> classIn(Map<String, Object> options) {
    return options.values().stream()
        .filter(Map.class::isInstance)
        .flatMap(option -> ((Map<?, ?>) option).values().stream())
        .map(String::valueOf)
        .filter(IsoldeInSchema::isOurs)
        .findFirst();
  }

  private static boolean isOurs(String className) {
    return className != null && className.startsWith(PACKAGE);
  }
}
