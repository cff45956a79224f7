// Node's part of find_many: reads the _id of each document, adds it up, and says the sum.
//   node peer_find.js URI findmany N      (NODE_PATH: where the package mongodb lies)
const { MongoClient } = require('mongodb');

const [uri, , count] = process.argv.slice(2);
let docs = 0;
let checksum = 0;

async function findAll(collection) {
    for await (const one of collection.find({}, { batchSize: 1000 })) {
        ++docs;
        checksum += one._id;
    }
}

async function main() {
    const client = new MongoClient(uri, { maxPoolSize: 1 });
    await client.connect();
    const collection = client.db('perftest').collection('corpus');
    await findAll(collection);  // what is compiled by then runs faster
    docs = checksum = 0;
    const began = process.hrtime.bigint();
    for (let n = 0; n < Number(count); ++n)
        await findAll(collection);
    const wall = Number(process.hrtime.bigint() - began) / 1e9;
    console.log(JSON.stringify({ n: Number(count), wall, docs, checksum }));
    await client.close();
}

main().catch(why => {
    console.error(why);
    process.exit(1);
});
