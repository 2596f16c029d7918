// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.applications;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.config.DefaultDriverOption;
import com.datastax.oss.driver.api.core.config.DriverConfigLoader;
import com.datastax.oss.driver.api.core.cql.Row;
import io.isolde.client.Isolde;
import io.isolde.client.IsoldeSessionBuilder;
import io.isolde.system.SystemNode;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.dao.OptimisticLockingFailureException;
import org.springframework.data.annotation.Id;
import org.springframework.data.annotation.Version;
import org.springframework.data.cassandra.core.CassandraTemplate;
import org.springframework.data.cassandra.core.InsertOptions;
import org.springframework.data.cassandra.core.UpdateOptions;
import org.springframework.data.cassandra.core.cql.PrimaryKeyType;
import org.springframework.data.cassandra.core.cql.session.init.ResourceKeyspacePopulator;
import org.springframework.data.cassandra.core.mapping.BasicMapId;
import org.springframework.data.cassandra.core.mapping.MapId;
import org.springframework.data.cassandra.core.mapping.PrimaryKeyColumn;
import org.springframework.data.cassandra.core.mapping.Table;
import org.springframework.data.cassandra.core.query.CassandraPageRequest;
import org.springframework.data.cassandra.core.query.Criteria;
import org.springframework.data.cassandra.core.query.Query;
import org.springframework.data.cassandra.core.query.Update;
import org.springframework.data.cassandra.repository.AllowFiltering;
import org.springframework.data.cassandra.repository.CassandraRepository;
import org.springframework.data.cassandra.repository.MapIdCassandraRepository;
import org.springframework.data.cassandra.repository.support.CassandraRepositoryFactory;
import org.springframework.data.domain.Pageable;
import org.springframework.data.domain.Slice;

/** An application with Spring Data does on Isolde's tables what it does on plain ones. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class SpringDataTest {
  private static final int PAGE = 4;
  private static final int POSTINGS = 10;

  /** As an application has it in a file. */
  private static final String SCHEMA =
      """
      CREATE TABLE account (id text PRIMARY KEY, owner text, balance bigint, tags set<text>, version bigint);
      CREATE TABLE posting (account text, number int, amount bigint, PRIMARY KEY (account, number));
      """;

  private static final String TRANSACTIONAL =
      """
      -- Isolde's.
      ENABLE TRANSACTIONS ON account;
      ENABLE TRANSACTIONS ON posting;
      """;

  enum Kind {
    PLAIN("SimpleStrategy", false),
    TRANSACTIONAL("SimpleStrategy", true),
    STRONG("ReplicatedLogStrategy", false),
    STRONG_AND_TRANSACTIONAL("ReplicatedLogStrategy", true);

    private final String replication;
    private final boolean isTransactional;

    Kind(String replication, boolean isTransactional) {
      this.replication = replication;
      this.isTransactional = isTransactional;
    }
  }

  @Table
  static final class Account {
    @Id String id;
    String owner;
    long balance;
    Set<String> tags;
    @Version Long version;

    static Account of(String id, String owner, long balance) {
      Account account = new Account();
      account.id = id;
      account.owner = owner;
      account.balance = balance;
      account.tags = Set.of("new", owner);
      return account;
    }
  }

  @Table
  record Posting(
      @PrimaryKeyColumn(type = PrimaryKeyType.PARTITIONED) String account,
      @PrimaryKeyColumn(type = PrimaryKeyType.CLUSTERED) int number,
      long amount) {
    MapId id() {
      return BasicMapId.id("account", account).with("number", number);
    }
  }

  interface Accounts extends CassandraRepository<Account, String> {
    @AllowFiltering
    List<Account> findByOwner(String owner);

    @AllowFiltering
    long countByBalanceGreaterThan(long balance);
  }

  interface Postings extends MapIdCassandraRepository<Posting> {
    List<Posting> findByAccountAndNumberGreaterThanEqual(String account, int from);

    List<Posting> findByAccountOrderByNumberDesc(String account);

    Slice<Posting> findByAccount(String account, Pageable page);

    boolean existsByAccountAndNumber(String account, int number);

    void deleteByAccount(String account);
  }

  /** What an application is given. */
  private record Application(
      CqlSession session, CassandraTemplate template, Accounts accounts, Postings postings) {
    static Application on(Kind kind) {
      SystemNode node = SystemNode.shared();
      String keyspace = SystemNode.freshName("spring");
      node.session()
          .execute(
              "CREATE KEYSPACE %s WITH replication = {'class': '%s', 'replication_factor': 1}"
                  .formatted(keyspace, kind.replication));
      CqlSession session =
          new IsoldeSessionBuilder()
              .addContactPoint(node.process().contactPoint())
              .withLocalDatacenter("datacenter1")
              .withKeyspace(keyspace)
              .withConfigLoader(
                  DriverConfigLoader.programmaticBuilder()
                      .withDuration(DefaultDriverOption.REQUEST_TIMEOUT, Duration.ofSeconds(40))
                      .build())
              .build();
      populate(session, SCHEMA);
      if (kind.isTransactional) {
        populate(session, TRANSACTIONAL);
      }
      CassandraTemplate template = new CassandraTemplate(session);
      CassandraRepositoryFactory repositories = new CassandraRepositoryFactory(template);
      return new Application(
          session,
          template,
          repositories.getRepository(Accounts.class),
          repositories.getRepository(Postings.class));
    }

    private static void populate(CqlSession session, String script) {
      new ResourceKeyspacePopulator(new ByteArrayResource(script.getBytes(StandardCharsets.UTF_8)))
          .populate(session);
    }
  }

  private final Map<Kind, Application> applications = new EnumMap<>(Kind.class);

  private Application application(Kind kind) {
    return applications.computeIfAbsent(kind, Application::on);
  }

  @AfterAll
  void close() {
    applications.values().forEach(application -> application.session.close());
  }

  @ParameterizedTest
  @EnumSource
  void whenEntitiesAreSavedThenTheyAreFoundUntilTheyAreDeleted(Kind kind) {
    Accounts accounts = application(kind).accounts;
    accounts.saveAll(
        List.of(
            Account.of("a", "Ada", 10), Account.of("b", "Bob", 20), Account.of("c", "Ada", 30)));
    Account found = accounts.findById("a").orElseThrow();
    assertThat(found.owner).isEqualTo("Ada");
    assertThat(found.tags).containsExactlyInAnyOrder("new", "Ada");
    assertThat(accounts.findAllById(List.of("a", "c", "x")))
        .extracting(each -> each.balance)
        .containsExactlyInAnyOrder(10L, 30L);
    assertThat(accounts.findByOwner("Ada"))
        .extracting(each -> each.id)
        .containsExactlyInAnyOrder("a", "c");
    assertThat(accounts.countByBalanceGreaterThan(15)).isEqualTo(2);
    assertThat(accounts.count()).isEqualTo(3);
    accounts.deleteById("a");
    assertThat(accounts.existsById("a")).isFalse();
    accounts.delete(accounts.findById("b").orElseThrow());
    assertThat(accounts.findAll()).extracting(each -> each.id).containsExactly("c");
    accounts.deleteAll();
    assertThat(accounts.findAll()).isEmpty();
  }

  @ParameterizedTest
  @EnumSource
  void whenAnEntityIsStaleThenItIsNeitherSavedNorDeleted(Kind kind) {
    Application application = application(kind);
    Account created = application.accounts.save(Account.of("versioned", "Ada", 10));
    Account stale = application.accounts.findById("versioned").orElseThrow();
    Account alsoStale = application.accounts.findById("versioned").orElseThrow();
    created.balance = 11;
    Account saved = application.accounts.save(created);
    assertThat(saved.version).isEqualTo(stale.version + 1);

    stale.balance = 99;
    assertThatThrownBy(() -> application.accounts.save(stale))
        .isInstanceOf(OptimisticLockingFailureException.class);
    assertThatThrownBy(() -> application.template.delete(alsoStale))
        .isInstanceOf(OptimisticLockingFailureException.class);
    assertThatThrownBy(() -> application.accounts.save(Account.of("versioned", "Eve", 0)))
        .isInstanceOf(OptimisticLockingFailureException.class);
    assertThat(application.accounts.findById("versioned").orElseThrow().balance).isEqualTo(11);
    application.template.delete(saved);
    assertThat(application.accounts.existsById("versioned")).isFalse();
  }

  @ParameterizedTest
  @EnumSource
  void whenAWriteHasAConditionThenTheAnswerSaysWhetherItHeld(Kind kind) {
    CassandraTemplate template = application(kind).template;
    InsertOptions ifNew = InsertOptions.builder().withIfNotExists().build();
    assertThat(template.insert(new Posting("if", 1, 5), ifNew).wasApplied()).isTrue();
    assertThat(template.insert(new Posting("if", 1, 6), ifNew).wasApplied()).isFalse();

    Query first = Query.query(Criteria.where("account").is("if"), Criteria.where("number").is(1));
    UpdateOptions ifFive =
        UpdateOptions.builder().ifCondition(Criteria.where("amount").is(5L)).build();
    Update toSeven = Update.update("amount", 7L);
    assertThat(template.update(first.queryOptions(ifFive), toSeven, Posting.class)).isTrue();
    assertThat(template.update(first.queryOptions(ifFive), toSeven, Posting.class)).isFalse();
    UpdateOptions ifThere = UpdateOptions.builder().withIfExists().build();
    assertThat(template.update(new Posting("if", 2, 1), ifThere).wasApplied()).isFalse();
    assertThat(template.selectOne(first, Posting.class)).isEqualTo(new Posting("if", 1, 7));
  }

  @ParameterizedTest
  @EnumSource
  void whenABatchInsertsUpdatesAndDeletesThenAllOfThatIsDone(Kind kind) {
    Application application = application(kind);
    application.postings.insert(new Posting("one", 1, 1));
    application.postings.insert(new Posting("two", 1, 1));
    boolean isApplied =
        application
            .template
            .batchOps()
            .insert(new Posting("one", 2, 2), new Posting("three", 1, 3))
            .update(new Posting("one", 1, 10))
            .delete(new Posting("two", 1, 1))
            .execute()
            .wasApplied();
    assertThat(isApplied).isTrue();
    assertThat(application.postings.findByAccountOrderByNumberDesc("one"))
        .containsExactly(new Posting("one", 2, 2), new Posting("one", 1, 10));
    assertThat(application.postings.findById(new Posting("two", 1, 0).id())).isEmpty();
    assertThat(application.postings.existsByAccountAndNumber("three", 1)).isTrue();
  }

  @ParameterizedTest
  @EnumSource
  void whenAPartitionIsReadInPagesThenEachRowComesOnceAndInOrder(Kind kind) {
    Postings postings = application(kind).postings;
    List<Posting> all =
        IntStream.range(0, POSTINGS).mapToObj(i -> new Posting("paged", i, i)).toList();
    postings.saveAll(all);
    List<Posting> read = new ArrayList<>();
    Slice<Posting> page = postings.findByAccount("paged", CassandraPageRequest.first(PAGE));
    while (true) {
      assertThat(page.getNumberOfElements()).isLessThanOrEqualTo(PAGE);
      read.addAll(page.getContent());
      if (!page.hasNext()) {
        break;
      }
      page = postings.findByAccount("paged", page.nextPageable());
    }
    assertThat(read).isEqualTo(all);
    assertThat(postings.findByAccountAndNumberGreaterThanEqual("paged", 6))
        .isEqualTo(all.subList(6, POSTINGS));
    postings.deleteByAccount("paged");
    assertThat(postings.findByAccountOrderByNumberDesc("paged")).isEmpty();
  }

  @ParameterizedTest
  @EnumSource(names = {"TRANSACTIONAL", "STRONG_AND_TRANSACTIONAL"})
  void whenATransactionReadsAndWritesThenSpringMapsItsRows(Kind kind) {
    Application application = application(kind);
    application.accounts.save(Account.of("from", "Ada", 100));
    Isolde isolde = Isolde.on(application.session);
    isolde.runVoid(
        tx -> {
          Row row = tx.execute("SELECT * FROM account WHERE id = 'from'").one();
          Account account = application.template.getConverter().read(Account.class, row);
          tx.execute("UPDATE account SET balance = ? WHERE id = ?", account.balance - 30, "from");
          tx.execute("INSERT INTO posting (account, number, amount) VALUES ('from', 1, -30)");
        });
    assertThat(application.accounts.findById("from").orElseThrow().balance).isEqualTo(70);
    assertThat(application.postings.existsByAccountAndNumber("from", 1)).isTrue();
  }
}
