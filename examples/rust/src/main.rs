// SPDX-License-Identifier: Apache-2.0

//! Moves 30 from account 1 to account 2, and not a cent more than there is: in one request.

use scylla::client::session::Session;
use scylla::client::session_builder::SessionBuilder;
use std::env;
use std::error::Error;

const TRANSFER: &str = "
  BEGIN TRANSACTION
    LET source = (SELECT balance FROM shop_rust.accounts WHERE id = ?);
    LET target = (SELECT balance FROM shop_rust.accounts WHERE id = ?);
    IF source.balance >= ? AND target IS NOT NULL THEN
      UPDATE shop_rust.accounts SET balance = source.balance - ? WHERE id = ?;
      UPDATE shop_rust.accounts SET balance = target.balance + ? WHERE id = ?;
    END IF
  COMMIT TRANSACTION";

const SCHEMA: [&str; 3] = [
    "CREATE KEYSPACE IF NOT EXISTS shop_rust
       WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
    "CREATE TABLE IF NOT EXISTS shop_rust.accounts (id int PRIMARY KEY, balance int)
       WITH transactional_mode = 'full'",
    "BEGIN TRANSACTION
       LET first = (SELECT balance FROM shop_rust.accounts WHERE id = 1);
       IF first IS NULL THEN
         INSERT INTO shop_rust.accounts (id, balance) VALUES (1, 100);
         INSERT INTO shop_rust.accounts (id, balance) VALUES (2, 0);
       END IF
     COMMIT TRANSACTION",
];

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let address = env::var("CASSANDRA").unwrap_or_else(|_| "127.0.0.1".to_string());
    let session = SessionBuilder::new()
        .known_node(format!("{address}:9042"))
        .build()
        .await?;
    for statement in SCHEMA {
        session.query_unpaged(statement, &[]).await?;
    }
    // Not idempotent, which is the default: a repetition would move 30 more.
    let transfer = session.prepare(TRANSFER).await?;
    let answer = session
        .execute_unpaged(&transfer, (1, 2, 30, 30, 1, 30, 2))
        .await?
        .into_rows_result()?;
    let (applied,) = answer.single_row::<(bool,)>()?;
    if !applied {
        return Err("there is not enough on account 1".into());
    }
    println!(
        "Moved 30: account 1 has {}, account 2 has {}.",
        balance(&session, 1).await?,
        balance(&session, 2).await?
    );
    Ok(())
}

async fn balance(session: &Session, id: i32) -> Result<i32, Box<dyn Error>> {
    let answer = session
        .query_unpaged("SELECT balance FROM shop_rust.accounts WHERE id = ?", (id,))
        .await?
        .into_rows_result()?;
    Ok(answer.single_row::<(i32,)>()?.0)
}
